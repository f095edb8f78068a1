package mjb

// Sensor is one sensor.
type Sensor struct {
	Type   SensorType
	Adr    int     // first column of sensordata
	Dim    int     // columns of it
	Cutoff float64 // size at which its readings are clipped, 0 for none
}

// SensorType is MuJoCo's mjtSensor. The first few are the same in every version.
type SensorType int

// The sensors of how a site moves.
const (
	Accelerometer SensorType = 1
	Velocimeter   SensorType = 2
	Gyro          SensorType = 3
)

// sensors reads the sensors.
func (f *file) sensors(m *Model) {
	n, columns := f.size("nsensor", maxObjects), f.size("nsensordata", maxColumns)
	kind, adr, dim := f.ints("sensor_type", n), f.ints("sensor_adr", n), f.ints("sensor_dim", n)
	cutoff := f.nums("sensor_cutoff", n)
	if f.failed() {
		return
	}
	m.Sensors = make([]Sensor, n)
	for i := range m.Sensors {
		if adr[i] < 0 || dim[i] < 0 || adr[i]+dim[i] > columns {
			f.fault("sensor %d has the columns %d to %d of %d", i, adr[i], adr[i]+dim[i], columns)
			return
		}
		m.Sensors[i] = Sensor{Type: SensorType(kind[i]), Adr: adr[i], Dim: dim[i], Cutoff: cutoff[i]}
	}
}

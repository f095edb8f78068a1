package cuda

// symbol numbers the functions of the driver that this package calls.
type symbol int

const (
	symInit symbol = iota
	symDriverGetVersion
	symDeviceGetCount
	symDeviceGet
	symDeviceGetName
	symDeviceGetAttribute
	symDeviceTotalMem
	symPrimaryCtxRetain
	symPrimaryCtxRelease
	symCtxGetCurrent
	symCtxPushCurrent
	symCtxPopCurrent
	symCtxSynchronize
	symThreadExchangeStreamCaptureMode
	symModuleLoadDataEx
	symModuleUnload
	symModuleGetFunction
	symMemGetInfo
	symMemAlloc
	symMemFree
	symMemHostRegister
	symMemHostUnregister
	symMemHostGetDevicePointer
	symMemsetD8Async
	symMemcpyHtoDAsync
	symMemcpyDtoHAsync
	symMemcpy2DAsync
	symStreamCreate
	symStreamDestroy
	symStreamSynchronize
	symStreamWaitEvent
	symStreamIsCapturing
	symStreamBeginCapture
	symStreamEndCapture
	symGraphInstantiate
	symGraphLaunch
	symGraphDestroy
	symGraphExecDestroy
	symEventCreate
	symEventDestroy
	symEventRecord
	symEventSynchronize
	symEventElapsedTime
	symLaunchKernel
	numSymbols
)

// symbols are the names with the versions that CUDA 12 headers give them.
var symbols = [numSymbols]string{
	symInit:                            "cuInit",
	symDriverGetVersion:                "cuDriverGetVersion",
	symDeviceGetCount:                  "cuDeviceGetCount",
	symDeviceGet:                       "cuDeviceGet",
	symDeviceGetName:                   "cuDeviceGetName",
	symDeviceGetAttribute:              "cuDeviceGetAttribute",
	symDeviceTotalMem:                  "cuDeviceTotalMem_v2",
	symPrimaryCtxRetain:                "cuDevicePrimaryCtxRetain",
	symPrimaryCtxRelease:               "cuDevicePrimaryCtxRelease_v2",
	symCtxGetCurrent:                   "cuCtxGetCurrent",
	symCtxPushCurrent:                  "cuCtxPushCurrent_v2",
	symCtxPopCurrent:                   "cuCtxPopCurrent_v2",
	symCtxSynchronize:                  "cuCtxSynchronize",
	symThreadExchangeStreamCaptureMode: "cuThreadExchangeStreamCaptureMode",
	symModuleLoadDataEx:                "cuModuleLoadDataEx",
	symModuleUnload:                    "cuModuleUnload",
	symModuleGetFunction:               "cuModuleGetFunction",
	symMemGetInfo:                      "cuMemGetInfo_v2",
	symMemAlloc:                        "cuMemAlloc_v2",
	symMemFree:                         "cuMemFree_v2",
	symMemHostRegister:                 "cuMemHostRegister_v2",
	symMemHostUnregister:               "cuMemHostUnregister",
	symMemHostGetDevicePointer:         "cuMemHostGetDevicePointer_v2",
	symMemsetD8Async:                   "cuMemsetD8Async",
	symMemcpyHtoDAsync:                 "cuMemcpyHtoDAsync_v2",
	symMemcpyDtoHAsync:                 "cuMemcpyDtoHAsync_v2",
	symMemcpy2DAsync:                   "cuMemcpy2DAsync_v2",
	symStreamCreate:                    "cuStreamCreate",
	symStreamDestroy:                   "cuStreamDestroy_v2",
	symStreamSynchronize:               "cuStreamSynchronize",
	symStreamWaitEvent:                 "cuStreamWaitEvent",
	symStreamIsCapturing:               "cuStreamIsCapturing",
	symStreamBeginCapture:              "cuStreamBeginCapture_v2",
	symStreamEndCapture:                "cuStreamEndCapture",
	symGraphInstantiate:                "cuGraphInstantiateWithFlags",
	symGraphLaunch:                     "cuGraphLaunch",
	symGraphDestroy:                    "cuGraphDestroy",
	symGraphExecDestroy:                "cuGraphExecDestroy",
	symEventCreate:                     "cuEventCreate",
	symEventDestroy:                    "cuEventDestroy_v2",
	symEventRecord:                     "cuEventRecord",
	symEventSynchronize:                "cuEventSynchronize",
	symEventElapsedTime:                "cuEventElapsedTime",
	symLaunchKernel:                    "cuLaunchKernel",
}

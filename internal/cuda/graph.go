package cuda

import "runtime"

// Graph is work captured from a stream, ready to be run again and again.
type Graph struct {
	c    *Context
	exec uintptr
}

// Capture runs enqueue, which puts work into the stream, and returns that work
// as a graph. The stream must not be the default one.
func (c *Context) Capture(s Stream, enqueue func() error) (*Graph, error) {
	return c.capture(s, captureRelaxed, enqueue)
}

// CaptureGlobal is Capture as torch does it: meanwhile no thread of the process may
// make a call that could disturb a capture, unless it says that it knows.
func (c *Context) CaptureGlobal(s Stream, enqueue func() error) (*Graph, error) {
	runtime.LockOSThread() // the thread that begins has to end it
	defer runtime.UnlockOSThread()
	return c.capture(s, captureGlobal, enqueue)
}

func (c *Context) capture(s Stream, mode int32, enqueue func() error) (*Graph, error) {
	if err := c.do(func() error { return c.d.beginCapture(s, mode) }); err != nil {
		return nil, err
	}
	failed := enqueue()
	var graph uintptr
	if err := c.do(func() error { return c.d.endCapture(s, &graph) }); failed != nil || err != nil {
		if failed == nil {
			failed = err
		}
		return nil, failed
	}
	g := &Graph{c: c}
	err := c.do(func() error {
		defer c.d.destroyGraph(graph) //nolint:errcheck // the executable copy is what counts
		return c.d.instantiate(&g.exec, graph)
	})
	return g, err
}

// Run enqueues the whole graph.
func (g *Graph) Run(s Stream) error {
	return g.c.do(func() error { return g.c.d.launchGraph(g.exec, s) })
}

// Destroy gives the graph back.
func (g *Graph) Destroy() error {
	return g.c.do(func() error { return g.c.d.destroyGraphExec(g.exec) })
}

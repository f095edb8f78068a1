package dump

import (
	"errors"
	"fmt"
	"strings"
)

// problems gathers what is wrong with many entries: the same reason again and
// again becomes one warning, and a file can only say so much about itself.
type problems struct {
	list   []problem // in the order in which the reasons came up
	reason map[string]int
}

// problem is one reason with the entries that it holds for.
type problem struct {
	why   error
	names []string // the first of them, quoted
	count int
}

const (
	maxReasons = 16
	maxNamed   = 4
)

var errOther = errors.New("other problems, too many to list")

// add books one entry.
func (p *problems) add(name string, why error) {
	i, known := p.reason[why.Error()]
	if !known {
		if len(p.list) == maxReasons {
			why = errOther
		}
		if i, known = p.reason[why.Error()]; !known {
			i = p.open(why)
		}
	}
	q := &p.list[i]
	if q.count++; q.count <= maxNamed {
		q.names = append(q.names, quote(name))
	}
}

// open adds a reason and returns its index.
func (p *problems) open(why error) int {
	if p.reason == nil {
		p.reason = map[string]int{}
	}
	p.reason[why.Error()] = len(p.list)
	p.list = append(p.list, problem{why: why})
	return len(p.list) - 1
}

// warnings returns one warning per reason.
func (p *problems) warnings() (out []error) {
	for _, q := range p.list {
		word := "entry"
		if q.count > 1 {
			word = "entries"
		}
		out = append(out, fmt.Errorf("%s %s%s: %w", word, strings.Join(q.names, ", "), moreText(q.count-len(q.names)), q.why))
	}
	return out
}

// moreText continues a message that names the first of several.
func moreText[N int | int64](n N) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", n)
}

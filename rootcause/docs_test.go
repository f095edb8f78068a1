package rootcause

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// updating reports whether golden files are to be written (go test -update, the
// flag of x/exp/golden).
func updating() bool {
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true"
}

// TestDocs holds docs/causes.md to the catalogue and the facts: the parts between
// "generated" marks are made from the code. go test -update writes them.
func TestDocs(t *testing.T) {
	name := filepath.Join("..", "docs", "causes.md")
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	got := string(b)
	want := fill(t, fill(t, got, "causes", causesTable()), "facts", factsTable())
	if updating() {
		require.NoError(t, os.WriteFile(name, []byte(want), 0o644))
		return
	}
	assert.True(t, got == want, "docs/causes.md is not what the code says: go test ./rootcause -run TestDocs -update")
}

// fill replaces what stands between the marks of a part.
func fill(t *testing.T, text, part, by string) string {
	t.Helper()
	begin, end := fmt.Sprintf("<!-- generated: %s -->\n", part), "<!-- end -->"
	head, rest, ok := strings.Cut(text, begin)
	require.True(t, ok, "no mark for %s", part)
	_, tail, ok := strings.Cut(rest, end)
	require.True(t, ok, "no end of %s", part)
	return head + begin + by + end + tail
}

// causesTable writes the catalogue with its priors, in per cent.
func causesTable() string {
	var b strings.Builder
	b.WriteString("\n| id | cause | in the running | textbook | field |\n|---|---|---|---|---|\n")
	for _, k := range catalogue {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", k.id, k.title, cards[k.id].Ranked, num(100*k.prior[TextbookPrior]), num(100*k.prior[FieldPrior]))
	}
	return b.String() + "\n"
}

// factsTable writes the facts.
func factsTable() string {
	var b strings.Builder
	b.WriteString("\n| id | fact | yes, or the value |\n|---|---|---|\n")
	for _, r := range rules {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", r.id, r.name, r.means)
	}
	return b.String() + "\n"
}

// TestCards: every cause has a card that says something.
func TestCards(t *testing.T) {
	require.Len(t, cards, len(catalogue))
	for _, id := range Causes() {
		k, ok := Explain(id)
		require.True(t, ok, id)
		assert.NotEmpty(t, k.What, id)
		assert.NotEmpty(t, k.Symptoms, id)
		assert.NotEmpty(t, k.Ranked, id)
		assert.NotEmpty(t, k.Fix, id)
		assert.NotEmpty(t, k.Looks, id)
		for _, c := range k.Cases {
			assert.Regexp(t, `^https://github\.com/[^/]+/[^/]+/(issues|pull|commit)/[0-9a-f]+$`, c.URL, id)
		}
	}
	_, ok := Explain("gremlins")
	assert.False(t, ok)
	k, _ := Explain(AutodiffSingular)
	assert.Equal(t, X22, k.Looks[0].Feature)
	assert.Equal(t, yes, k.Looks[0].Value)
	for _, r := range rules {
		assert.NotEmpty(t, r.ask, r.id)
		assert.NotEmpty(t, r.means, r.id)
	}
}

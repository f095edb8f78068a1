package dump

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// maxLong is the most bytes of one integer: seeds have 16.
const maxLong = 1 << 10

var errPickleEnd = fmt.Errorf("ends in the middle: %w", io.ErrUnexpectedEOF)

func (u *unpickler) byte() (byte, error) {
	b, err := u.take(1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

// take returns the next n bytes of the pickle, which it shares.
func (u *unpickler) take(n uint64) ([]byte, error) {
	if n > uint64(len(u.in)-u.pos) {
		return nil, errPickleEnd
	}
	b := u.in[u.pos : u.pos+int(n) : u.pos+int(n)]
	u.pos += int(n)
	return b, nil
}

func (u *unpickler) skip1() error { _, err := u.take(1); return err }
func (u *unpickler) skip8() error { _, err := u.take(8); return err }

// uint reads a little-endian number of the given size.
func (u *unpickler) uint(size int) (uint64, error) {
	b, err := u.take(uint64(size))
	var n uint64
	for i, c := range b {
		n |= uint64(c) << (8 * i)
	}
	return n, err
}

// counted reads bytes that follow their count.
func (u *unpickler) counted(size int) ([]byte, error) {
	n, err := u.uint(size)
	if err != nil {
		return nil, err
	}
	return u.take(n)
}

// line reads text up to the end of its line.
func (u *unpickler) line() (string, error) {
	i := bytes.IndexByte(u.in[u.pos:], '\n')
	if i < 0 {
		return "", errPickleEnd
	}
	b, err := u.take(uint64(i) + 1)
	return strings.TrimSuffix(string(b[:i]), "\r"), err
}

// lineIndex reads the number of a remembered object.
func (u *unpickler) lineIndex() (uint64, error) {
	s, err := u.line()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("recalls object %s, which is no number", quote(s))
	}
	return n, nil
}

// opInt reads protocol 0's int, which is also its bool.
func (u *unpickler) opInt() error {
	s, err := u.line()
	switch {
	case err != nil:
		return err
	case s == "00" || s == "01":
		return u.push(s == "01")
	}
	return u.pushDigits(s)
}

func (u *unpickler) opLong() error {
	s, err := u.line()
	if err != nil {
		return err
	}
	return u.pushDigits(strings.TrimSuffix(s, "L"))
}

// pushDigits pushes a number in decimal digits; beyond int64 it stays text.
func (u *unpickler) pushDigits(s string) error {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return u.push(n)
	}
	if len(s) > 2*maxLong {
		return fmt.Errorf("integer of %d digits over limit %d", len(s), 2*maxLong)
	}
	n, ok := new(big.Int).SetString(s, 10)
	if !ok {
		return fmt.Errorf("integer %s does not parse", quote(s))
	}
	return u.push(n.String())
}

// opLongBytes reads an integer in two's complement, least byte first.
func (u *unpickler) opLongBytes(size int) error {
	b, err := u.counted(size)
	if err != nil {
		return err
	}
	if len(b) > maxLong {
		return fmt.Errorf("integer of %d bytes over limit %d", len(b), maxLong)
	}
	return u.push(longValue(b))
}

// longValue returns the integer as int64, or as its digits where it is larger.
func longValue(b []byte) any {
	b = bytes.Clone(b)
	slices.Reverse(b)
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	if n.IsInt64() {
		return n.Int64()
	}
	return n.String()
}

func (u *unpickler) opFloat() error {
	s, err := u.line()
	if err != nil {
		return err
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("float %s does not parse", quote(s))
	}
	return u.push(f)
}

// opQuoted reads protocol 0's str: the repr that Python 2 wrote.
func (u *unpickler) opQuoted() error {
	s, err := u.line()
	if err != nil {
		return err
	}
	s, ok := unquote(s)
	if !ok {
		return errors.New("string without its quotes")
	}
	return u.push(unescape(s, `\'"abfnrtvx01234567`))
}

// opUnicode reads protocol 0's unicode: Latin-1 with \u and \U for the rest.
func (u *unpickler) opUnicode() error {
	s, err := u.line()
	if err != nil {
		return err
	}
	latin := make([]rune, len(s))
	for i := range len(s) {
		latin[i] = rune(s[i])
	}
	return u.push(unescape(string(latin), "uU"))
}

// unescape replaces Python's escapes of the given kinds; what is none stays.
func unescape(s, kinds string) string {
	var out strings.Builder
	for s != "" {
		if s[0] == '\\' && len(s) > 1 && strings.IndexByte(kinds, s[1]) >= 0 {
			if rest, ok := unescapeOne(&out, s); ok {
				s = rest
				continue
			}
		}
		out.WriteByte(s[0])
		s = s[1:]
	}
	return out.String()
}

// unescapeOne writes the character whose escape s begins with.
func unescapeOne(out *strings.Builder, s string) (rest string, ok bool) {
	quote := byte(0)
	if s[1] == '\'' || s[1] == '"' {
		quote = s[1]
	}
	r, multibyte, rest, err := strconv.UnquoteChar(s, quote)
	if err != nil {
		return "", false
	}
	if multibyte {
		out.WriteRune(r)
	} else {
		out.WriteByte(byte(r))
	}
	return rest, true
}

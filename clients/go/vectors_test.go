package satchel

import (
	"bytes"
	"reflect"
	"testing"
)

func TestVectorsArePackedWithTheLowByteFirst(t *testing.T) {
	got := PackVectors([]float32{1}, []float32{-2.5})

	if want := []byte{0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc0}; !bytes.Equal(got, want) {
		t.Errorf("got % x, want % x", got, want)
	}
}

func TestUnpackedVectorsAreThePackedOnes(t *testing.T) {
	rows := [][]float32{{1, 0.5, -0.25}, {0, -1e-7, 3e8}}

	got, err := UnpackVectors(PackVectors(rows...), 3)

	if err != nil || !reflect.DeepEqual(got, rows) {
		t.Errorf("got %v and error %v, want %v", got, err, rows)
	}
}

func TestBytesThatAreNoWholeRowsAreRefused(t *testing.T) {
	for _, dimension := range []int{-1, 0, 2, 4} {
		if rows, err := UnpackVectors(make([]byte, 12), dimension); err == nil {
			t.Errorf("dimension %d gives %v, want an error", dimension, rows)
		}
	}
}

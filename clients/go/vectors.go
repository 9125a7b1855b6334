package satchel

import (
	"encoding/binary"
	"fmt"
	"math"
)

const float32Bytes = 4

// PackVectors returns the rows one after the other as little-endian float32, the form of every field
// of the contracts that holds vectors.
func PackVectors(rows ...[]float32) []byte {
	var packed []byte
	for _, row := range rows {
		for _, value := range row {
			packed = binary.LittleEndian.AppendUint32(packed, math.Float32bits(value))
		}
	}
	return packed
}

// UnpackVectors returns the rows, each of the dimension, that [PackVectors] or Satchel packed. It
// fails when the bytes are not whole rows.
func UnpackVectors(packed []byte, dimension int) ([][]float32, error) {
	if dimension <= 0 || len(packed)%(dimension*float32Bytes) != 0 {
		return nil, fmt.Errorf("satchel: %d bytes are no rows of %d float32", len(packed), dimension)
	}
	rows := make([][]float32, len(packed)/(dimension*float32Bytes))
	for i := range rows {
		rows[i] = make([]float32, dimension)
		for j := range rows[i] {
			rows[i][j] = math.Float32frombits(binary.LittleEndian.Uint32(packed))
			packed = packed[float32Bytes:]
		}
	}
	return rows, nil
}

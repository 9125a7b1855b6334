package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	satchel "satchel.dev/go"
	allocatorv1 "satchel.dev/go/api/allocator/v1"
	embedderv1 "satchel.dev/go/api/embedder/v1"
	storev1 "satchel.dev/go/api/store/v1"
)

const (
	warmUpCalls = 20
	benchWing   = "bench"
)

// speed is what the benchmark prints of one RPC.
type speed struct {
	CallsPerSecond float64 `json:"calls_per_second"`
	MedianMS       float64 `json:"median_ms"`
}

// bench measures the RPCs one after the other, each with sequential calls on the client's connection.
func bench(ctx context.Context, client *satchel.Client, duration time.Duration) (object, error) {
	calls := []struct {
		name string
		call func(text string) error
	}{
		{"EmbedTexts", func(text string) error {
			role := embedderv1.TextRole_TEXT_ROLE_PASSAGE
			_, err := client.Embedder.EmbedTexts(ctx, &embedderv1.EmbedTextsRequest{Texts: []string{text}, Role: role})
			return err
		}},
		{"StoreMemory", func(text string) error {
			_, err := client.Memories.StoreMemory(ctx, &storev1.StoreMemoryRequest{Wing: benchWing, Content: text})
			return err
		}},
		{"Recall", func(text string) error {
			question := "Is this right? " + text
			_, err := client.Allocator.Recall(ctx, &allocatorv1.RecallRequest{Wing: benchWing, Query: question, Budget: 1000})
			return err
		}},
	}
	var printed object
	for _, each := range calls {
		measured, err := measure(each.call, duration)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", each.name, err)
		}
		printed = append(printed, member{each.name, measured})
	}
	return printed, nil
}

// measure repeats a call for the duration, after some calls that do not count. Each call gets a text
// of its own, of about twelve words.
func measure(call func(text string) error, duration time.Duration) (speed, error) {
	run := newUUID()
	var taken []time.Duration
	var began time.Time
	for n := 0; n <= warmUpCalls || time.Since(began) < duration; n++ {
		if n == warmUpCalls {
			began = time.Now()
		}
		text := fmt.Sprintf("Order %d of %s left the bakery at noon with %d loaves of bread.", n, run[:8], n%97)
		start := time.Now()
		if err := call(text); err != nil {
			return speed{}, err
		}
		if n >= warmUpCalls {
			taken = append(taken, time.Since(start))
		}
	}
	total := time.Since(began)
	slices.Sort(taken)
	return speed{
		CallsPerSecond: float64(len(taken)) / total.Seconds(),
		MedianMS:       float64(taken[len(taken)/2].Nanoseconds()) / float64(time.Millisecond.Nanoseconds()),
	}, nil
}

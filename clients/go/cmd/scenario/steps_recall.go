package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	satchel "satchel.dev/go"
	allocatorv1 "satchel.dev/go/api/allocator/v1"
	embedderv1 "satchel.dev/go/api/embedder/v1"
	typesv1 "satchel.dev/go/api/types/v1"
)

// recallRequest returns the request of the step recall, for what is stored by now.
func (r *runner) recallRequest() (*allocatorv1.RecallRequest, error) {
	return decode(r.recalled, &allocatorv1.RecallRequest{Wing: r.wing, MinRevision: r.revision})
}

func (r *runner) recall(ctx context.Context, s step) (any, error) {
	r.recalled = s.Request
	request, err := r.recallRequest()
	if err != nil {
		return nil, err
	}
	answer, err := r.client.Allocator.Recall(ctx, request)
	if err != nil {
		return nil, err
	}
	if len(answer.GetMemories()) == 0 {
		return nil, errors.New("the answer holds no memory")
	}
	best := answer.GetMemories()[0]
	tokens, receipt := answer.GetTotalTokens(), answer.GetReceipt()
	return object{
		{"first_mode", best.GetMode().String()},
		{"first_is_stored", best.GetId() == r.three[0].id},
		{"in_context", strings.Contains(answer.GetContext(), r.three[0].content)},
		{"within_budget", tokens <= request.GetBudget()},
		{"receipt_agrees", tokens > 0 && tokens == receipt.GetTotalTokens()},
		{"encoding", receipt.GetEncoding()},
		{"degraded", namesOf(receipt.GetDegraded())},
	}, nil
}

// namesOf returns the names of enum values; none is an empty list, never null.
func namesOf[E fmt.Stringer](values []E) []string {
	names := []string{}
	for _, value := range values {
		names = append(names, value.String())
	}
	return names
}

func (r *runner) search(ctx context.Context, s step) (any, error) {
	request, err := decode(s.Request, &allocatorv1.SearchMemoriesRequest{Wing: r.wing, MinRevision: r.revision})
	if err != nil {
		return nil, err
	}
	answer, err := r.client.Allocator.SearchMemories(ctx, request)
	if err != nil {
		return nil, err
	}
	printed := []object{}
	for _, result := range answer.GetResults() {
		printed = append(printed, object{
			{"content", result.GetContent()},
			{"type", result.GetType().String()},
			{"room", result.GetRoom()},
		})
	}
	return printed, nil
}

func (r *runner) allocate(ctx context.Context, s step) (any, error) {
	request, err := decode(s.Request, &allocatorv1.AllocateRequest{})
	if err != nil {
		return nil, err
	}
	var axes struct {
		Candidates []struct {
			VectorAxis int `json:"vector_axis"`
		} `json:"candidates"`
	}
	if err := json.Unmarshal(s.Request, &axes); err != nil {
		return nil, err
	}
	for i, candidate := range request.GetCandidates() {
		unit := make([]float32, 4)
		unit[axes.Candidates[i].VectorAxis] = 1
		candidate.Vector = satchel.PackVectors(unit)
	}
	answer, err := r.client.Allocator.Allocate(ctx, request)
	if err != nil {
		return nil, err
	}
	ids := []string{}
	for _, memory := range answer.GetMemories() {
		ids = append(ids, memory.GetId())
	}
	return object{
		{"context", answer.GetContext()},
		{"ids", ids},
		{"total_tokens", answer.GetTotalTokens()},
		{"collapsed_count", answer.GetReceipt().GetCollapsedCount()},
		{"selected_count", answer.GetReceipt().GetSelectedCount()},
	}, nil
}

func (r *runner) embed(ctx context.Context, s step) (any, error) {
	request, err := decode(s.Request, &embedderv1.EmbedTextsRequest{})
	if err != nil {
		return nil, err
	}
	answer, err := r.client.Embedder.EmbedTexts(ctx, request)
	if err != nil {
		return nil, err
	}
	rows, err := satchel.UnpackVectors(answer.GetVectors(), int(answer.GetDimension()))
	if err != nil {
		return nil, err
	}
	if len(rows) != 2 || len(rows[0]) < 3 {
		return nil, fmt.Errorf("got %d rows of %d, want 2 of at least 3", len(rows), answer.GetDimension())
	}
	norms, first, passages := []string{}, []string{}, []object{}
	for _, row := range rows {
		norms = append(norms, fixed(math.Sqrt(dot(row, row)), 4))
	}
	for _, value := range rows[0][:3] {
		first = append(first, fixed(float64(value), 2))
	}
	for _, span := range answer.GetSpans() {
		passages = append(passages, object{
			{"text_index", span.GetTextIndex()},
			{"start", span.GetStart()},
			{"end", span.GetEnd()},
		})
	}
	return object{
		{"count", answer.GetCount()},
		{"dimension", answer.GetDimension()},
		{"byte_length", len(answer.GetVectors())},
		{"norms", norms},
		{"first", first},
		{"cosine", fixed(dot(rows[0], rows[1]), 2)},
		{"passages", passages},
	}, nil
}

func (r *runner) trace(ctx context.Context, _ step) (any, error) {
	request, err := r.recallRequest()
	if err != nil {
		return nil, err
	}
	traceID, spanID := randomBytes(16), randomBytes(8)
	traceparent := fmt.Sprintf("00-%s-%s-01", hex.EncodeToString(traceID), hex.EncodeToString(spanID))
	var trailer metadata.MD
	ctx = satchel.WithTrace(ctx, traceparent)
	if _, err := r.client.Allocator.Recall(ctx, request, grpc.Trailer(&trailer)); err != nil {
		return nil, err
	}
	spans, err := satchel.SpansOf(trailer)
	if err != nil {
		return nil, err
	}
	var roots, services []string
	for _, span := range spans.GetSpans() {
		if bytes.Equal(span.GetParentSpanId(), spanID) {
			roots = append(roots, span.GetName())
		}
		if span.GetKind() == typesv1.SpanKind_SPAN_KIND_SERVER {
			service, _, _ := strings.Cut(span.GetName(), "/")
			services = append(services, service)
		}
	}
	slices.Sort(services)
	return object{
		{"same_trace", bytes.Equal(spans.GetTraceId(), traceID)},
		{"under_the_caller", len(roots)},
		{"root", strings.Join(roots, ", ")},
		{"services", slices.Compact(services)},
	}, nil
}

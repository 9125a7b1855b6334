package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"

	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	satchel "satchel.dev/go"
)

// scenario is the file that describes what every client does.
type scenario struct {
	Wing  string `json:"wing"`
	Steps []step `json:"steps"`
}

// step is one step of the scenario; which members it has depends on its name.
type step struct {
	Name          string            `json:"name"`
	Request       json.RawMessage   `json:"request"`
	Requests      []json.RawMessage `json:"requests"`
	Content       string            `json:"content"`
	OtherContent  string            `json:"other_content"`
	PageSize      int32             `json:"page_size"`
	OtherPageSize int32             `json:"other_page_size"`
	DeadlineMS    int64             `json:"deadline_ms"`
}

// stored is a memory of the step store_three.
type stored struct {
	id      string
	content string
}

// runner carries out steps, and keeps what later ones need of earlier ones.
type runner struct {
	client *satchel.Client
	wing   string

	three    []stored        // what store_three stored
	recalled json.RawMessage // the request of recall
	revision int64           // of the last stored memory
}

// run carries out the steps in order and returns what each one prints.
func (r *runner) run(ctx context.Context, steps []step) (object, error) {
	known := map[string]func(context.Context, step) (any, error){
		"health":           r.health,
		"store_three":      r.storeThree,
		"store_by_stream":  r.storeByStream,
		"same_request_id":  r.sameRequestID,
		"recall":           r.recall,
		"search":           r.search,
		"allocate":         r.allocate,
		"embed":            r.embed,
		"list":             r.list,
		"watch":            r.watch,
		"invalid_argument": r.invalidArgument,
		"missing_memory":   r.missingMemory,
		"deadline":         r.deadline,
		"trace":            r.trace,
	}
	var printed object
	for _, each := range steps {
		do, ok := known[each.Name]
		if !ok {
			return nil, fmt.Errorf("the step %q is unknown to this runner", each.Name)
		}
		value, err := do(ctx, each)
		if err != nil {
			return nil, fmt.Errorf("step %s: %w", each.Name, err)
		}
		printed = append(printed, member{each.Name, value})
	}
	return printed, nil
}

// decode adds a request of the scenario to a message. Members that belong to the scenario alone are
// left out.
func decode[M proto.Message](text json.RawMessage, message M) (M, error) {
	given := message.ProtoReflect().New().Interface()
	err := protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(text, given)
	proto.Merge(message, given)
	return message, err
}

var errNoFailure = errors.New("the call did not fail")

// failed decodes the error of a call that must fail.
func failed(err error) (satchel.Failure, error) {
	if err == nil {
		return satchel.Failure{}, errNoFailure
	}
	return satchel.FailureOf(err), nil
}

// codeName returns the name of the failure's code as the contracts write it, such as NOT_FOUND.
func codeName(failure satchel.Failure) string { return code.Code(failure.Code).String() }

// orNull returns what JSON writes as null when the failure has no ErrorInfo.
func orNull(failure satchel.Failure, text string) *string {
	if failure.Reason == "" {
		return nil
	}
	return &text
}

// metadatum returns an entry of the failure's metadata, which JSON writes as null when it is absent.
func metadatum(failure satchel.Failure, key string) *string {
	if value, ok := failure.Metadata[key]; ok {
		return &value
	}
	return nil
}

// fixed writes a number with so many decimals, and zero without a sign.
func fixed(number float64, decimals int) string {
	if scale := math.Pow10(decimals); math.Abs(number) < 0.5/scale {
		number = 0
	}
	return strconv.FormatFloat(number, 'f', decimals, 64)
}

// dot returns the scalar product of two rows of the same length.
func dot(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

var uuidForm = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// newUUID returns a random UUID of version 4. Source: RFC 9562, section 5.4.
func newUUID() string {
	b := randomBytes(16)
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// randomBytes returns so many bytes from the system's random source, which never fails.
func randomBytes(count int) []byte {
	b := make([]byte, count)
	rand.Read(b)
	return b
}

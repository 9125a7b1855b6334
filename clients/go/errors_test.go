package satchel

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	errorsv1 "satchel.dev/go/api/errors/v1"
)

const overloaded = errorsv1.ErrorReason_ERROR_REASON_OVERLOADED

func refusal(t *testing.T) error {
	t.Helper()
	refused, err := status.New(codes.ResourceExhausted, "Come back later.").WithDetails(
		&errdetails.ErrorInfo{
			Reason: overloaded.String(), Domain: "satchel", Metadata: map[string]string{"queue": "writes"},
		},
		&errdetails.RetryInfo{RetryDelay: durationpb.New(2 * time.Second)},
	)
	if err != nil {
		t.Fatal(err)
	}
	return refused.Err()
}

func TestAFailureHoldsWhatTheErrorSays(t *testing.T) {
	got := FailureOf(fmt.Errorf("storing: %w", refusal(t)))

	want := Failure{
		Code:       codes.ResourceExhausted,
		Message:    "Come back later.",
		Reason:     "ERROR_REASON_OVERLOADED",
		Domain:     "satchel",
		Metadata:   map[string]string{"queue": "writes"},
		RetryDelay: 2 * time.Second,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestAFailureListsTheFieldsThatBrokeALimit(t *testing.T) {
	violation := &errdetails.BadRequest_FieldViolation{Field: "wing", Description: "set wing"}
	refused, err := status.New(codes.InvalidArgument, "").WithDetails(
		&errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{violation}})
	if err != nil {
		t.Fatal(err)
	}

	got := FailureOfStatus(refused.Proto()).Violations

	if len(got) != 1 || got[0].GetField() != "wing" || got[0].GetDescription() != "set wing" {
		t.Errorf("got %v, want the one of wing", got)
	}
}

func TestWhatIsNoErrorOfACallHasNoReason(t *testing.T) {
	for err, want := range map[error]codes.Code{
		nil:                     codes.OK,
		errors.New("disk full"): codes.Unknown,
		status.Error(codes.Unavailable, "nothing answers"): codes.Unavailable,
	} {
		if got := FailureOf(err); got.Code != want || got.Reason != "" {
			t.Errorf("%v gives %+v, want code %v and no reason", err, got, want)
		}
	}
}

func TestAReasonIsRecognised(t *testing.T) {
	err := refusal(t)

	if !HasReason(err, overloaded) {
		t.Error("the reason was not seen")
	}
	if HasReason(err, errorsv1.ErrorReason_ERROR_REASON_STORE_FULL) || HasReason(nil, overloaded) {
		t.Error("a reason was seen that is not there")
	}
}

package satchel

import (
	"errors"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	errorsv1 "satchel.dev/go/api/errors/v1"
)

// Failure is what Satchel says about a call, or about one item of a stream, that failed.
type Failure struct {
	// Code is the gRPC code.
	Code codes.Code
	// Message is a sentence for a human, with a remedy where there is one.
	Message string
	// Reason is the name of a value of errorsv1.ErrorReason, perhaps one that is newer than this
	// client. It is empty when the error does not come from Satchel, as when nothing answers.
	Reason string
	// Domain is "satchel" beside a Reason.
	Domain string
	// Metadata holds what errorsv1.ErrorReason lists for the reason.
	Metadata map[string]string
	// Violations lists every field that broke a limit, for reasons of the FIELD family.
	Violations []*errdetails.BadRequest_FieldViolation
	// RetryDelay is how long to wait before another try, beside the reason OVERLOADED. 0 means that
	// none was given.
	RetryDelay time.Duration
}

// FailureOf decodes the error of a call, also a wrapped one. The code is OK for nil, and Unknown for
// an error that no call gave.
func FailureOf(err error) Failure {
	// status.Convert alone would put the text of the wrapping error into the message.
	var carrier interface{ GRPCStatus() *status.Status }
	if errors.As(err, &carrier) {
		return FailureOfStatus(carrier.GRPCStatus().Proto())
	}
	return FailureOfStatus(status.Convert(err).Proto())
}

// FailureOfStatus decodes the status of one item of a stream, such as the field error of
// ImportMemoriesResponse. The code is OK for nil.
func FailureOfStatus(proto *rpcstatus.Status) Failure {
	decoded := status.FromProto(proto)
	failure := Failure{Code: decoded.Code(), Message: decoded.Message()}
	for _, detail := range decoded.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			failure.Reason = detail.GetReason()
			failure.Domain = detail.GetDomain()
			failure.Metadata = detail.GetMetadata()
		case *errdetails.BadRequest:
			failure.Violations = detail.GetFieldViolations()
		case *errdetails.RetryInfo:
			failure.RetryDelay = detail.GetRetryDelay().AsDuration()
		}
	}
	return failure
}

// HasReason reports whether a call failed for the reason.
func HasReason(err error, reason errorsv1.ErrorReason) bool {
	return err != nil && FailureOf(err).Reason == reason.String()
}

package dev.satchel.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import com.google.protobuf.Any;
import com.google.rpc.BadRequest;
import com.google.rpc.BadRequest.FieldViolation;
import com.google.rpc.Code;
import com.google.rpc.ErrorInfo;
import dev.satchel.api.errors.v1.ErrorReason;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SatchelExceptionTest {
  private static com.google.rpc.Status notFound(ErrorInfo info) {
    return com.google.rpc.Status.newBuilder()
        .setCode(Code.NOT_FOUND_VALUE)
        .setMessage("No such memory.")
        .addDetails(Any.pack(info))
        .build();
  }

  private static ErrorInfo.Builder info(String reason) {
    return ErrorInfo.newBuilder().setDomain("satchel").setReason(reason);
  }

  @Test
  void aFailedCallTellsItsCodeReasonAndMetadata() {
    ErrorInfo info =
        info("ERROR_REASON_MEMORY_NOT_FOUND").putMetadata("memory_id", "an-id").build();
    StatusRuntimeException failure = StatusProto.toStatusRuntimeException(notFound(info));

    SatchelException decoded = SatchelException.of(failure);

    assertEquals(Status.Code.NOT_FOUND, decoded.code());
    assertEquals(ErrorReason.ERROR_REASON_MEMORY_NOT_FOUND, decoded.reason());
    assertEquals(Map.of("memory_id", "an-id"), decoded.metadata());
    assertEquals("No such memory.", decoded.getMessage());
    assertSame(failure, decoded.getCause());
  }

  @Test
  void everyViolationOfAFieldIsListed() {
    FieldViolation wing = FieldViolation.newBuilder().setField("wing").build();
    FieldViolation room = FieldViolation.newBuilder().setField("room").build();
    BadRequest both =
        BadRequest.newBuilder().addFieldViolations(wing).addFieldViolations(room).build();
    com.google.rpc.Status status =
        notFound(info("ERROR_REASON_FIELD_BLANK").build()).toBuilder()
            .addDetails(Any.pack(both))
            .build();

    assertEquals(List.of(wing, room), SatchelException.of(status).violations());
  }

  @Test
  void aReasonOfANewerServerIsUnrecognizedAndKeepsItsName() {
    SatchelException decoded = SatchelException.of(notFound(info("ERROR_REASON_NEW").build()));

    assertEquals(ErrorReason.UNRECOGNIZED, decoded.reason());
    assertEquals("ERROR_REASON_NEW", decoded.info().orElseThrow().getReason());
  }

  @Test
  void aReasonOfAnotherDomainIsNotOurs() {
    ErrorInfo proxy = info("ERROR_REASON_INTERNAL").setDomain("proxy.example").build();

    assertEquals(
        ErrorReason.ERROR_REASON_UNSPECIFIED, SatchelException.of(notFound(proxy)).reason());
  }

  @Test
  void aFailureOfGrpcItselfHasACodeAndNoReason() {
    SatchelException decoded = SatchelException.of(Status.UNAVAILABLE.asRuntimeException());

    assertEquals(Status.Code.UNAVAILABLE, decoded.code());
    assertEquals(ErrorReason.ERROR_REASON_UNSPECIFIED, decoded.reason());
    assertEquals(Map.of(), decoded.metadata());
  }
}

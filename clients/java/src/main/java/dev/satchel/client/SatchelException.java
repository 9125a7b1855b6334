package dev.satchel.client;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.rpc.BadRequest;
import com.google.rpc.BadRequest.FieldViolation;
import com.google.rpc.ErrorInfo;
import dev.satchel.api.errors.v1.ErrorReason;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Why a call or a record of a stream failed: gRPC code, reason and metadata.
 *
 * <p>Stubs throw {@link StatusRuntimeException}; {@link #of(StatusRuntimeException)} decodes it.
 * What each reason means, and which metadata it carries, is said at {@link ErrorReason}.
 */
public final class SatchelException extends RuntimeException {
  private static final long serialVersionUID = 1;
  private static final String DOMAIN = "satchel";

  /** The whole status. Its details hold what has no method here, such as a RetryInfo. */
  private final com.google.rpc.Status status;

  private SatchelException(com.google.rpc.Status status, Throwable cause) {
    super(status.getMessage(), cause);
    this.status = status;
  }

  /** Decodes what a stub has thrown, and keeps it as the cause. */
  public static SatchelException of(StatusRuntimeException failure) {
    return new SatchelException(StatusProto.fromThrowable(failure), failure);
  }

  /** Decodes the status with which a stream answers one bad record. */
  public static SatchelException of(com.google.rpc.Status status) {
    return new SatchelException(status, null);
  }

  /** Returns the gRPC code. */
  public Status.Code code() {
    return Status.fromCodeValue(status.getCode()).getCode();
  }

  /**
   * Returns the published reason.
   *
   * <p>It is {@code ERROR_REASON_UNSPECIFIED} when gRPC or a proxy refused the call before Satchel
   * saw it, and {@code UNRECOGNIZED} when the server has a reason that this client does not know;
   * {@link #info()} then has its name.
   */
  public ErrorReason reason() {
    return info()
        .filter(info -> info.getDomain().equals(DOMAIN))
        .map(ErrorInfo::getReason)
        .map(SatchelException::reasonOf)
        .orElse(ErrorReason.ERROR_REASON_UNSPECIFIED);
  }

  /** Returns what belongs to the reason, such as {@code field} and {@code remedy}; may be empty. */
  public Map<String, String> metadata() {
    return info().map(ErrorInfo::getMetadataMap).orElse(Map.of());
  }

  /** Returns the ErrorInfo as it was sent, if one was. */
  public Optional<ErrorInfo> info() {
    return detail(ErrorInfo.class);
  }

  /** Returns every violation of a field that was found, with the names of the fields. */
  public List<FieldViolation> violations() {
    return detail(BadRequest.class).map(BadRequest::getFieldViolationsList).orElse(List.of());
  }

  /** Returns the whole status, for details of other kinds. */
  public com.google.rpc.Status status() {
    return status;
  }

  private <T extends Message> Optional<T> detail(Class<T> type) {
    for (Any detail : status.getDetailsList()) {
      if (detail.is(type)) {
        try {
          return Optional.of(detail.unpack(type));
        } catch (InvalidProtocolBufferException damaged) {
          return Optional.empty();
        }
      }
    }
    return Optional.empty();
  }

  private static ErrorReason reasonOf(String name) {
    try {
      return ErrorReason.valueOf(name);
    } catch (IllegalArgumentException newer) {
      return ErrorReason.UNRECOGNIZED;
    }
  }
}

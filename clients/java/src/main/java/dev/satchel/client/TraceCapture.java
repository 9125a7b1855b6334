package dev.satchel.client;

import dev.satchel.api.types.v1.TraceSpans;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.protobuf.ProtoUtils;
import java.util.Optional;

/**
 * Asks the server where a call spends its time: {@code
 * satchel.allocator().withInterceptors(capture)}.
 *
 * <p>Holds the spans of the last call that ended, after a success and after a failure.
 */
public final class TraceCapture implements ClientInterceptor {
  private static final Metadata.Key<String> TRACEPARENT =
      Metadata.Key.of("traceparent", Metadata.ASCII_STRING_MARSHALLER);
  private static final Metadata.Key<String> DEMAND =
      Metadata.Key.of("satchel-trace", Metadata.ASCII_STRING_MARSHALLER);
  private static final Metadata.Key<TraceSpans> SPANS =
      Metadata.Key.of(
          "satchel-spans-bin", ProtoUtils.metadataMarshaller(TraceSpans.getDefaultInstance()));

  private final String traceparent;
  private volatile TraceSpans spans;

  /**
   * Makes the server continue a trace.
   *
   * @param traceparent the caller's span, as <a href="https://www.w3.org/TR/trace-context/">W3C
   *     trace context</a> writes it; empty begins a new trace
   */
  public TraceCapture(String traceparent) {
    this.traceparent = traceparent;
  }

  /** Returns the spans of the last call that ended; empty when no server sent any. */
  public Optional<TraceSpans> spans() {
    return Optional.ofNullable(spans);
  }

  @Override
  public <Q, A> ClientCall<Q, A> interceptCall(
      MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
    return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
      @Override
      public void start(Listener<A> listener, Metadata headers) {
        headers.put(DEMAND, "1");
        if (!traceparent.isEmpty()) {
          headers.put(TRACEPARENT, traceparent);
        }
        super.start(capturing(listener), headers);
      }
    };
  }

  private <A> ClientCall.Listener<A> capturing(ClientCall.Listener<A> listener) {
    return new SimpleForwardingClientCallListener<>(listener) {
      @Override
      public void onClose(Status status, Metadata trailers) {
        spans = trailers.get(SPANS);
        super.onClose(status, trailers);
      }
    };
  }
}

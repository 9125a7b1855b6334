package dev.satchel.client;

import com.google.protobuf.Message;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * What every call of a client carries: a deadline if it is unary and has none, the API key, and the
 * project. An empty key or project adds nothing.
 */
final class CallDefaults implements ClientInterceptor {
  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  private final Duration timeout;
  private final String apiKey;
  private final String project;

  CallDefaults(Duration timeout, String apiKey, String project) {
    this.timeout = timeout;
    this.apiKey = apiKey;
    this.project = project;
  }

  @Override
  public <Q, A> ClientCall<Q, A> interceptCall(
      MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
    return new SimpleForwardingClientCall<>(next.newCall(method, limited(method, options))) {
      @Override
      public void start(Listener<A> listener, Metadata headers) {
        if (!apiKey.isEmpty()) {
          headers.put(AUTHORIZATION, "Bearer " + apiKey);
        }
        super.start(listener, headers);
      }

      @Override
      public void sendMessage(Q message) {
        super.sendMessage(inProject(message));
      }
    };
  }

  private CallOptions limited(MethodDescriptor<?, ?> method, CallOptions options) {
    boolean isLimited = method.getType() != MethodType.UNARY || options.getDeadline() != null;
    return isLimited ? options : options.withDeadlineAfter(timeout.toNanos(), TimeUnit.NANOSECONDS);
  }

  @SuppressWarnings("unchecked") // a copy of a message has its type
  private <Q> Q inProject(Q message) {
    return project.isEmpty() || !(message instanceof Message request)
        ? message
        : (Q) Projects.fill(request, project);
  }
}

package dev.satchel.client;

import com.google.protobuf.DescriptorProtos.MethodOptions.IdempotencyLevel;
import dev.satchel.api.allocator.v1.AllocatorServiceGrpc;
import dev.satchel.api.embedder.v1.EmbedderServiceGrpc;
import dev.satchel.api.index.v1.IndexServiceGrpc;
import dev.satchel.api.store.v1.ChangeServiceGrpc;
import dev.satchel.api.store.v1.MemoryServiceGrpc;
import dev.satchel.api.store.v1.SearchServiceGrpc;
import io.grpc.MethodDescriptor;
import io.grpc.ServiceDescriptor;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.protobuf.ProtoMethodDescriptorSupplier;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Which calls are sent again while a server is UNAVAILABLE, as gRPC's service config says it.
 *
 * <p>Only calls that the contract calls idempotent: an answer that was lost on its way looks
 * UNAVAILABLE too. What never left is sent again for any call, by gRPC itself.
 *
 * @see <a href="https://github.com/grpc/grpc/blob/master/doc/service_config.md">service config</a>
 */
final class RetryPolicy {
  private static final List<ServiceDescriptor> SERVICES =
      List.of(
          AllocatorServiceGrpc.getServiceDescriptor(),
          ChangeServiceGrpc.getServiceDescriptor(),
          EmbedderServiceGrpc.getServiceDescriptor(),
          IndexServiceGrpc.getServiceDescriptor(),
          MemoryServiceGrpc.getServiceDescriptor(),
          SearchServiceGrpc.getServiceDescriptor());

  private RetryPolicy() {}

  /** Returns the service config; its numbers are doubles, as gRPC demands. */
  static Map<String, Object> serviceConfig() {
    Map<String, Object> policy =
        Map.of(
            "maxAttempts",
            3.0,
            "initialBackoff",
            "0.1s",
            "maxBackoff",
            "1s",
            "backoffMultiplier",
            3.0,
            "retryableStatusCodes",
            List.of("UNAVAILABLE"));
    return Map.of("methodConfig", List.of(Map.of("name", names(), "retryPolicy", policy)));
  }

  private static List<Map<String, String>> names() {
    return Stream.concat(
            SERVICES.stream()
                .flatMap(service -> service.getMethods().stream())
                .filter(RetryPolicy::isIdempotent),
            Stream.of(HealthGrpc.getCheckMethod()))
        .map(
            method ->
                Map.of("service", method.getServiceName(), "method", method.getBareMethodName()))
        .toList();
  }

  private static boolean isIdempotent(MethodDescriptor<?, ?> method) {
    return method.getSchemaDescriptor() instanceof ProtoMethodDescriptorSupplier schema
        && schema.getMethodDescriptor().getOptions().getIdempotencyLevel()
            != IdempotencyLevel.IDEMPOTENCY_UNKNOWN;
  }
}

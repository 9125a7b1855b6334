package dev.satchel.client;

import io.grpc.Context;
import java.util.Iterator;
import java.util.function.Supplier;

/**
 * The answers of one streaming call, which ends when it is closed.
 *
 * <p>{@code hasNext()} waits for the next answer. It throws {@link io.grpc.StatusRuntimeException}
 * when the stream fails, and with code CANCELLED after {@link #close()}. Read it from one thread;
 * any thread may close it.
 *
 * @param <T> the message of an answer
 */
public final class ServerStream<T> implements Iterator<T>, AutoCloseable {
  private final Context.CancellableContext context;
  private final Iterator<T> answers;

  private ServerStream(Context.CancellableContext context, Iterator<T> answers) {
    this.context = context;
    this.answers = answers;
  }

  /**
   * Begins a call of a blocking stub, such as {@code () -> stub.exportMemories(request)}.
   *
   * <p>The stub alone cannot be told to stop: dropping its iterator leaves the call open.
   */
  public static <T> ServerStream<T> open(Supplier<Iterator<T>> call) {
    Context.CancellableContext context = Context.current().withCancellation();
    Context before = context.attach();
    try {
      return new ServerStream<>(context, call.get());
    } finally {
      context.detach(before);
    }
  }

  @Override
  public boolean hasNext() {
    return answers.hasNext();
  }

  @Override
  public T next() {
    return answers.next();
  }

  /** Cancels the call, unless it has ended. */
  @Override
  public void close() {
    context.cancel(null);
  }
}

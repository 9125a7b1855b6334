package dev.satchel.examples;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.util.JsonFormat;
import java.util.stream.Stream;

/** Reads what the scenario describes. */
final class Described {
  private Described() {}

  /** Returns the one request of a step. */
  static JsonObject requestOf(JsonObject step) {
    return step.getAsJsonObject("request");
  }

  /** Returns the requests of a step in order. */
  static Stream<JsonObject> requestsOf(JsonObject step) {
    return objects(step, "requests");
  }

  /** Returns the objects of a list in order. */
  static Stream<JsonObject> objects(JsonObject holder, String list) {
    return holder.getAsJsonArray(list).asList().stream().map(JsonElement::getAsJsonObject);
  }

  /** Adds fields, by their names in the contract, to a message, and returns that. */
  static <B extends Message.Builder> B merged(JsonObject fields, B message) {
    try {
      JsonFormat.parser().merge(fields.toString(), message);
    } catch (InvalidProtocolBufferException wrong) {
      throw new IllegalArgumentException("the scenario does not fit the contract", wrong);
    }
    return message;
  }
}

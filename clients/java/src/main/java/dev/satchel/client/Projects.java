package dev.satchel.client;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType;
import com.google.protobuf.Message;
import dev.satchel.api.types.v1.MemoryFilter;

/** Writes the client's project into requests that name none. */
final class Projects {
  private static final String FIELD = "project";

  private Projects() {}

  /**
   * Returns the request with the project in every empty field {@code project}: its own, and those
   * of the filter and of the memories that it holds. A search without a filter gets one.
   */
  static Message fill(Message request, String project) {
    Message.Builder filled = request.toBuilder();
    for (FieldDescriptor field : request.getDescriptorForType().getFields()) {
      if (field.getName().equals(FIELD) && request.getField(field).equals("")) {
        filled.setField(field, project);
      } else if (isSatchels(field)) {
        fillInside(filled, field, project);
      }
    }
    return filled.build();
  }

  private static void fillInside(Message.Builder request, FieldDescriptor field, String project) {
    if (field.isRepeated()) {
      for (int place = 0; place < request.getRepeatedFieldCount(field); place++) {
        Message item = (Message) request.getRepeatedField(field, place);
        request.setRepeatedField(field, place, fill(item, project));
      }
    } else if (request.hasField(field) || isFilter(field)) {
      request.setField(field, fill((Message) request.getField(field), project));
    }
  }

  private static boolean isSatchels(FieldDescriptor field) {
    return field.getJavaType() == JavaType.MESSAGE
        && field.getMessageType().getFile().getPackage().startsWith("satchel.api.");
  }

  private static boolean isFilter(FieldDescriptor field) {
    return field.getMessageType().equals(MemoryFilter.getDescriptor());
  }
}

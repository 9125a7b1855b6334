package dev.satchel.client;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.satchel.api.allocator.v1.AllocateRequest;
import dev.satchel.api.allocator.v1.Candidate;
import dev.satchel.api.store.v1.BatchStoreMemoriesRequest;
import dev.satchel.api.store.v1.SearchTextRequest;
import dev.satchel.api.store.v1.StoreMemoryRequest;
import org.junit.jupiter.api.Test;

class ProjectsTest {
  @Test
  void everyMemoryOfABatchGetsTheProjectUnlessItNamesOne() {
    StoreMemoryRequest.Builder plain = StoreMemoryRequest.newBuilder().setWing("billing");
    StoreMemoryRequest named = plain.clone().setProject("mill").build();
    BatchStoreMemoriesRequest batch =
        BatchStoreMemoriesRequest.newBuilder().addMemories(plain).addMemories(named).build();

    assertEquals(
        BatchStoreMemoriesRequest.newBuilder()
            .addMemories(plain.clone().setProject("bakery"))
            .addMemories(named)
            .build(),
        Projects.fill(batch, "bakery"));
  }

  @Test
  void aSearchWithoutAFilterGetsOneWithTheProject() {
    SearchTextRequest search = SearchTextRequest.newBuilder().setQuery("oven").build();

    SearchTextRequest filled = (SearchTextRequest) Projects.fill(search, "bakery");

    assertEquals("bakery", filled.getFilter().getProject());
    assertEquals("oven", filled.getQuery());
  }

  @Test
  void aRequestThatKnowsNoProjectStaysAsItIs() {
    AllocateRequest request =
        AllocateRequest.newBuilder().addCandidates(Candidate.newBuilder().setId("a")).build();

    assertEquals(request, Projects.fill(request, "bakery"));
  }
}

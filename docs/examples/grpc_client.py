import grpc
from satchel.api.allocator.v1 import allocator_service_pb2, allocator_service_pb2_grpc
from satchel.api.store.v1 import memory_service_pb2, memory_service_pb2_grpc

with grpc.insecure_channel("127.0.0.1:50051") as channel:
    stored = memory_service_pb2_grpc.MemoryServiceStub(channel).StoreMemory(
        memory_service_pb2.StoreMemoryRequest(wing="billing", content="Invoices are sent on the first Monday."),
        timeout=10,
    )
    question = allocator_service_pb2.RecallRequest(query="When are invoices sent?", wing="billing", budget=500)
    question.min_revision = stored.revision  # read your own write
    answer = allocator_service_pb2_grpc.AllocatorServiceStub(channel).Recall(question, timeout=10)
    print(answer.context, answer.receipt.total_tokens)

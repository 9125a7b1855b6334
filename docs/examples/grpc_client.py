import grpc

from satchel.api.allocator.v1 import allocator_service_pb2, allocator_service_pb2_grpc
from satchel.api.store.v1 import memory_service_pb2, memory_service_pb2_grpc

with grpc.insecure_channel("127.0.0.1:50051") as channel:
    memories = memory_service_pb2_grpc.MemoryServiceStub(channel)
    allocator = allocator_service_pb2_grpc.AllocatorServiceStub(channel)
    memory = memory_service_pb2.StoreMemoryRequest(wing="billing", content="Invoices go out on Mondays.")
    stored = memories.StoreMemory(memory, timeout=10)
    question = allocator_service_pb2.RecallRequest(query="When do invoices go out?", wing="billing")
    question.budget = 500
    question.min_revision = stored.revision  # read your own write
    answer = allocator.Recall(question, timeout=10)
    print(answer.context, answer.receipt.total_tokens)

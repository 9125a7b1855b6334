url=http://127.0.0.1:8080/api/v1
curl -sf "$url/memories" -H 'Content-Type: application/json' -d '{
  "wing": "billing",
  "content": "We chose PostgreSQL over MySQL because the ledger needs ACID. Approved by the CTO."
}'
curl -sf "$url/memories/recall" -H 'Content-Type: application/json' -d '{
  "wing": "billing",
  "query": "Which database does the ledger use, and why?",
  "budget": 500
}'

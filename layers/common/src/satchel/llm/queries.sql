-- name: find_records
-- What is stored for some keys; counts on the primary key (user_id, question_hash).
SELECT question_hash, prompt, model, answer, failure
FROM llm_ledger
WHERE user_id = %(user_id)s AND question_hash = ANY(%(keys)s);

-- name: keep_record
-- Store one record; a record that is there stays unless it is to be replaced. Counts on the primary key.
INSERT INTO llm_ledger (user_id, question_hash, prompt, model, answer, failure)
VALUES (%(user_id)s, %(key)s, %(prompt)s, %(model)s, %(answer)s, %(failure)s)
ON CONFLICT (user_id, question_hash) DO UPDATE
SET prompt = EXCLUDED.prompt, model = EXCLUDED.model, answer = EXCLUDED.answer, failure = EXCLUDED.failure,
    answered_at = now()
WHERE %(replace)s;

-- Counting postings reads the index alone, a term's postings side by side: in the table they lie scattered by message.
CREATE UNIQUE INDEX message_terms_covering ON message_terms (user_id, term, seq) INCLUDE (frequency, message_terms);
ALTER TABLE message_terms
    DROP CONSTRAINT message_terms_pkey,
    ADD CONSTRAINT message_terms_pkey PRIMARY KEY USING INDEX message_terms_covering;

-- Which code made a link: the same update may come twice, and its second answer is that of the first.
ALTER TABLE agent_links ADD COLUMN code_hash text;

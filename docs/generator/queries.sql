-- Means by system, over all judgings
SELECT p.system, ce.name, r.metric, AVG(r.score), COUNT(r.score), COUNT(*)
FROM plan p
JOIN campaign_evaluator ce ON ce.campaign = p.campaign
JOIN evaluation e ON e.conversation = p.conversation AND e.evaluator = ce.evaluator
JOIN rating r ON r.evaluation = e.id
WHERE p.campaign = 'films' GROUP BY 1, 2, 3;

-- Why scores are missing
SELECT status, reason, COUNT(*) FROM rating WHERE status <> 'ok' GROUP BY 1, 2;

-- Conversations that failed
SELECT p.system, p.scenario, c.state, c.reason FROM plan p
JOIN conversation c ON c.id = p.conversation WHERE c.reason <> '';

-- The turns of a conversation
SELECT t.value ->> 'speaker', t.value ->> 'text' FROM conversation c
JOIN text ON text.hash = c.log, json_each(text.text, '$.interaction') t
WHERE c.id LIKE 'a1%';

-- How long systems take for a turn, in seconds
SELECT p.system, AVG(s.value), MAX(s.value) FROM plan p
JOIN conversation c ON c.id = p.conversation, json_each(c.seconds) s GROUP BY 1;

-- Debates
SELECT e.conversation, s.round, s.role, s.score, text.text FROM statement s
JOIN evaluation e ON e.id = s.evaluation
LEFT JOIN text ON text.hash = s.text ORDER BY s.evaluation, s.number;

-- The lowest ratings, with the judges' reasons
SELECT e.conversation, r.metric, r.score, text.text FROM rating r
JOIN evaluation e ON e.id = r.evaluation JOIN text ON text.hash = r.rationale
ORDER BY r.score LIMIT 20;

-- What a campaign has cost
SELECT purpose, model, COUNT(*), SUM(tokens_in), SUM(tokens_out), SUM(cost)
FROM call WHERE campaign = 'films' GROUP BY 1, 2;

-- A prompt as it was sent, but for its code, and the reply
SELECT m.value ->> 0 AS role, part.text FROM call c, json_each(c.prompt) m, json_each(m.value) h
JOIN text part ON part.hash = h.value WHERE c.id LIKE 'k1%'
UNION ALL SELECT 'reply', text.text FROM call c JOIN text ON text.hash = c.reply
WHERE c.id LIKE 'k1%';

-- Runs, and how they ended
SELECT campaign, started_at, ended_at, state, reason, host FROM run ORDER BY id DESC;

-- A trigger by hand is recorded once, whoever retries it, and wherever: two statements that run beside each other don't see each other's row, an index does.
delete from forge.schedule_time t using forge.schedule_time first
where t.command_id <> '' and first.ns = t.ns and first.schedule_id = t.schedule_id and first.command_id = t.command_id and first.at < t.at;
create unique index schedule_time_trigger on forge.schedule_time (ns, schedule_id, command_id) where command_id <> '';

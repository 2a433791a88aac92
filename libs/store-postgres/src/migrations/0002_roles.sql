-- What a principal may do is its role; until now whoever was no worker might do everything.
alter table forge.principal add column role text check (role in ('viewer', 'operator', 'approver', 'admin', 'worker'));
update forge.principal set role = case kind when 'worker' then 'worker' else 'admin' end;
alter table forge.principal alter column role set not null;
alter table forge.principal drop column kind;
alter table forge.principal add column expires_at timestamptz;
alter table forge.principal add column created_at timestamptz not null default date_trunc('milliseconds', now());
alter table forge.principal add column created_by text not null default '';
alter table forge.principal alter column created_by drop default;

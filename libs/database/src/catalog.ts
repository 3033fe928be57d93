import type { Pool } from 'pg';

/**
 * The shape of some schemas as text, read from the catalog and sorted: tables with columns, constraints, indexes and triggers, functions
 * with their bodies, grants. Two databases with the same shape give the same text, whatever order it was made in.
 */
export async function catalogDump(pool: Pool, schemas: readonly string[]): Promise<string> {
  const { rows } = await pool.query<{ line: string }>(DUMP, [schemas]);
  return `${rows.map((row) => row.line).join('\n')}\n`;
}

const DUMP = `
with spaces as (select oid, nspname, nspacl, nspowner from pg_namespace where nspname = any($1)),
relations as (
  select c.oid, c.relname, c.relkind, c.relacl, c.relowner, c.reloptions, n.nspname, n.nspname || '.' || c.relname as name
  from pg_class c join spaces n on n.oid = c.relnamespace where c.relkind in ('r', 'p', 'v', 'm', 'S')
),
grants as (
  select n.nspname as schema, 'schema ' || n.nspname as object, a.grantee, a.privilege_type from spaces n, aclexplode(n.nspacl) a where a.grantee <> n.nspowner
  union all
  select r.nspname, 'table ' || r.name, a.grantee, a.privilege_type from relations r, aclexplode(r.relacl) a where a.grantee <> r.relowner
  union all
  select r.nspname, 'column ' || r.name || '.' || t.attname, a.grantee, a.privilege_type
  from relations r join pg_attribute t on t.attrelid = r.oid, aclexplode(t.attacl) a where a.grantee <> r.relowner
  union all
  select n.nspname, 'function ' || p.oid::regprocedure::text, a.grantee, a.privilege_type
  from pg_proc p join spaces n on n.oid = p.pronamespace, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a where a.grantee <> p.proowner
),
lines as (
  select nspname as schema, 0 as section, '' as name, 0 as place, '-- schema ' || nspname as line from spaces
  union all
  select nspname, 1, name, 0, case relkind when 'r' then 'table ' when 'p' then 'partitioned table ' when 'S' then 'sequence ' when 'm' then 'materialized view ' else 'view ' end
    || name || coalesce(' with (' || array_to_string(reloptions, ', ') || ')', '')
    || case when relkind in ('v', 'm') then ' as ' || pg_get_viewdef(oid) else '' end from relations
  union all
  select r.nspname, 1, r.name, a.attnum, '  ' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
    || case when a.attnotnull then ' not null' else '' end || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')
    || case a.attgenerated when 's' then ' stored' else '' end || case a.attidentity when '' then '' else ' identity' end
  from relations r join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
  left join pg_attrdef d on d.adrelid = r.oid and d.adnum = a.attnum where r.relkind <> 'S'
  union all
  select r.nspname, 1, r.name, 2000 + (row_number() over (partition by r.oid order by c.conname))::int, '  constraint ' || c.conname || ' ' || pg_get_constraintdef(c.oid)
  from relations r join pg_constraint c on c.conrelid = r.oid where c.contype <> 'n'
  union all
  select r.nspname, 1, r.name, 3000 + (row_number() over (partition by r.oid order by i.relname))::int, '  ' || pg_get_indexdef(i.oid)
  from relations r join pg_index x on x.indrelid = r.oid join pg_class i on i.oid = x.indexrelid
  union all
  select r.nspname, 1, r.name, 4000 + (row_number() over (partition by r.oid order by t.tgname))::int, '  ' || pg_get_triggerdef(t.oid)
  from relations r join pg_trigger t on t.tgrelid = r.oid where not t.tgisinternal
  union all
  select n.nspname, 2, p.oid::regprocedure::text, 0, pg_get_functiondef(p.oid) from pg_proc p join spaces n on n.oid = p.pronamespace where p.prokind in ('f', 'p')
  union all
  select schema, 3, object, 0, 'grant ' || string_agg(lower(privilege_type), ', ' order by privilege_type) || ' on ' || object || ' to '
    || case when grantee = 0 then 'public' else grantee::regrole::text end
  from grants group by schema, object, grantee
)
select line from lines order by schema collate "C", section, name collate "C", place, line collate "C"`;

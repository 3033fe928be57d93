-- Who appends to what (K18), whatever login they use. A deployment with a login for each service replaces '*' by it.
insert into event_store.writers (db_role, writer, category) values
  ('*', 'intake', 'template'),
  ('*', 'intake', 'review'),
  ('*', 'decisions', 'review'),
  ('*', 'monitoring', 'review'),
  ('*', 'directory', 'project'),
  ('*', 'directory', 'person'),
  ('*', 'directory', 'key'),
  ('*', 'webhooks', 'delivery');

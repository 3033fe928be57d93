-- How many reviews wait, and since when, over all projects: a metric that is read every minute.
create index reviews_pending on audit.reviews (priority, created_at) where status = 'pending';

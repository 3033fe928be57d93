-- Where in a trace the event behind a delivery was handled (W3C Trace Context): its first attempt goes on there, later ones are linked with it.
alter table webhooks.deliveries add column traceparent text, add column tracestate text;

-- A decision's session is checked where its request comes in: the gateway asks the directory on every request and keeps no answer.
drop view directory.active_sessions;

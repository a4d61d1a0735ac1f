-- Nobody reads events by their organization, and each one that is stored paid for it.
drop index events_org_id;

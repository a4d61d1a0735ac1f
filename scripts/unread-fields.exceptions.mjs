/** Fields that scripts/unread-fields.mjs cannot or need not find a reader for, and why. */
export const EXCEPTIONS = {
  second_limit: 'read by its position in LIMIT_FIELDS',
  minute_limit: 'read by its position in LIMIT_FIELDS',
  'legal_holds.release_reason': 'evidence for people who read the database or the audit trail',
  'rag_mail_domains.allowed_at': 'evidence of when a tenant allowed the reading of mail',
  'webhook_cleanup.only_row': 'the key of a table with one row',
  groupKey: 'sent by Alertmanager, described so that its messages are complete',
  externalURL: 'sent by Alertmanager, described so that its messages are complete',
  connection_id: 'sent by mail servers; the events of the specification do not have it',
  client_hostname: 'sent by mail servers; the events of the specification do not have it',
  auth_method: 'sent by mail servers; the events of the specification do not have it',
  relay_host: 'sent by mail servers; the events of the specification do not have it',
  delivery_delay: 'sent by mail servers; the events of the specification do not have it',
  dsn_status: 'sent by mail servers; the events of the specification do not have it',
  encryption_protocol: 'sent by mail servers; the events of the specification do not have it',
}

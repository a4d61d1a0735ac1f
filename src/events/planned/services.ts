import { reserved } from './plan.ts'

reserved('migration', [
  ['migration.message.error', 'A message was not migrated', 'job_id folder message_uid error'],
])

reserved('archiver', [
  ['archive.hold.created', 'Archived messages must be kept', 'hold_id reason=lawsuit'],
  ['archive.hold.released', 'Archived messages need not be kept any more', 'hold_id'],
])

reserved('rag', [
  ['rag.classification', 'A message was put into a class', 'message_id result=invoice'],
  ['rag.summarization', 'A message was summed up', 'message_id model'],
])

reserved('backup', [
  ['backup.started', 'A backup began', 'backup_id backup_type'],
  ['backup.completed', 'A backup is complete', 'backup_id backup_type size_bytes duration_seconds'],
  ['backup.failed', 'A backup broke off', 'backup_id backup_type error'],
  ['restore.started', 'A restore began', 'backup_id restored_to'],
  ['restore.completed', 'A restore is complete', 'backup_id restored_to duration_seconds'],
  ['restore.failed', 'A restore broke off', 'backup_id restored_to error'],
])
reserved('webhooks', [
  ['webhook.delivery.failed', 'An event became a dead letter', 'webhook_url attempts error'],
])

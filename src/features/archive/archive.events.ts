import { Type } from 'typebox'
import { defineEvent } from '../../events/events.ts'
import { Nullable } from '../../http/envelope.ts'

const archived = {
  archive_id: Type.String(),
  message_id: Nullable(Type.String({ examples: ['<20261115.1@acme.example>'] })),
}

export const ArchiveStored = defineEvent('archive.stored', {
  source: 'archiver',
  summary: 'A message was archived: its sealed object is in storage',
  data: Type.Object({
    ...archived,
    archive_location: Type.String(),
    storage_type: Type.String({ examples: ['s3'] }),
    compressed_size: Type.Integer(),
    legal_hold: Type.Boolean(),
  }),
})

export const ArchiveRestored = defineEvent('archive.restored', {
  source: 'archiver',
  summary: 'An archived message was read back',
  data: Type.Object({ ...archived, storage_key: Type.String() }),
})

export const ArchiveDeleted = defineEvent('archive.deleted', {
  source: 'archiver',
  summary: 'An archived message was deleted',
  data: Type.Object({ ...archived, storage_key: Type.String() }),
})

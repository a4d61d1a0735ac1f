import { Type } from 'typebox'
import { Body, Nullable, OneOf, Timestamp } from '../../../http/envelope.ts'
import { RequestedBy } from '../compliance.schemas.ts'

const EXPORT_TYPES = ['full', 'emails', 'contacts', 'settings'] as const
export type ExportType = (typeof EXPORT_TYPES)[number]

export const NewExport = Body({
  export_type: Type.Optional(OneOf(EXPORT_TYPES, { default: 'full' })),
  requested_by: RequestedBy,
})

export const DataExport = Type.Object(
  {
    id: Type.String(),
    user_email: Type.String(),
    status: OneOf(['pending', 'processing', 'completed', 'failed', 'expired']),
    export_type: OneOf(EXPORT_TYPES),
    download_url: Nullable(
      Type.String({ description: 'A path of this API; null until the export is completed' }),
    ),
    file_size: Type.Integer({ description: 'Size of the archive in bytes' }),
    contents: Type.Object(
      {},
      {
        additionalProperties: true,
        description: 'Counts of items in the archive, by kind of data',
      },
    ),
    requested_by: Type.String(),
    error_message: Nullable(Type.String()),
    completed_at: Nullable(Timestamp),
    expires_at: Nullable(Timestamp),
    created_at: Timestamp,
  },
  { title: 'DataExport' },
)

export const ExportParams = Type.Object({
  user_email: Type.String({ maxLength: 254 }),
  export_id: Type.String(),
})

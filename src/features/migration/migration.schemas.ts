import { Type } from 'typebox'
import { Body, Nullable, OneOf, Timestamp } from '../../http/envelope.ts'

export const STATUSES = ['pending', 'running', 'completed', 'failed', 'cancelled'] as const
export const DIRECTIONS = ['import', 'export'] as const
const AUTHS = ['password', 'oauth2'] as const

const MAX_ACCOUNTS = 1000
const MAX_FOLDERS = 1000

const host = Type.String({
  minLength: 1,
  maxLength: 255,
  examples: ['imap.example.com'],
  description: 'Name or address of the other IMAP server',
})
const port = Type.Optional(Type.Integer({ minimum: 1, maximum: 65535, default: 993 }))
const ssl = Type.Optional(
  Type.Boolean({
    default: true,
    description: 'TLS from the first byte; false: STARTTLS where the server has it',
  }),
)
const verify = Type.Optional(
  Type.Boolean({ default: true, description: 'Refuse a certificate that cannot be verified' }),
)
const login = Type.String({ minLength: 1, maxLength: 320 })
const password = Type.String({ minLength: 1, maxLength: 1024, format: 'password' })
const SECRET = { minLength: 1, maxLength: 8192, format: 'password' } as const
const secret = Type.String({
  ...SECRET,
  description: 'The password there, or an OAuth2 access token',
})
const auth = Type.Optional(
  OneOf(AUTHS, { default: 'password', description: '`oauth2`: the password is an access token' }),
)
const mailbox = Type.String({ minLength: 3, maxLength: 254, description: 'A mailbox of this host' })

const shared = {
  folder_mapping: Type.Optional(
    Type.Array(
      Type.Object(
        {
          source: Type.String({ minLength: 1, maxLength: 1000, examples: ['Sent Items'] }),
          target: Type.String({ minLength: 1, maxLength: 1000, examples: ['Sent'] }),
        },
        { additionalProperties: false },
      ),
      { maxItems: MAX_FOLDERS, description: 'A folder and those inside it get another name' },
    ),
  ),
  exclude_folders: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 1000, examples: ['Junk'] }), {
      maxItems: MAX_FOLDERS,
      description: 'Folders of the source that stay behind, with those inside them',
    }),
  ),
  webhook_url: Type.Optional(
    Nullable(
      Type.String({ maxLength: 500, description: 'URL that receives the events of this job' }),
    ),
  ),
}

const importAccount = {
  source_host: host,
  source_port: port,
  source_ssl: ssl,
  source_tls_verify: verify,
  source_username: login,
  source_password: secret,
  source_auth: auth,
  target_email: mailbox,
  target_password: password,
}

const exportAccount = {
  source_email: mailbox,
  source_password: password,
  target_host: host,
  target_port: port,
  target_ssl: ssl,
  target_tls_verify: verify,
  target_username: login,
  target_password: secret,
  target_auth: auth,
}

const accounts = <Properties extends Parameters<typeof Body>[0]>(fields: Properties) =>
  Type.Array(Body(fields), { minItems: 1, maxItems: MAX_ACCOUNTS })

export const ImportRequest = Body({ ...importAccount, ...shared })
export const ExportRequest = Body({ ...exportAccount, ...shared })
export const BulkImport = Body({ accounts: accounts({ ...importAccount, ...shared }), ...shared })
export const BulkExport = Body({ accounts: accounts({ ...exportAccount, ...shared }), ...shared })

const again = Type.String({
  ...SECRET,
  description: 'Replaces the kept one; needed only after `MIGRATION_CREDENTIALS_HOURS`',
})

/** The passwords of the job are kept for some days after its end, so a follow-up job needs none. */
export const Continuation = Body({
  source_password: Type.Optional(again),
  target_password: Type.Optional(again),
})

export const JobParams = Type.Object({ job_id: Type.String() })

// This API rejects values out of range; other lists clamp them.
const page = {
  page: Type.Optional(Type.Integer({ minimum: 1, default: 1, description: 'From 1' })),
  per_page: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
}
const organization = {
  organization_id: Type.Optional(Type.String({ description: 'Platform callers only' })),
}

export const JobsQuery = Type.Object({
  status: Type.Optional(OneOf(STATUSES)),
  direction: Type.Optional(OneOf(DIRECTIONS)),
  ...page,
  ...organization,
})
export const ErrorsQuery = Type.Object(page)
export const SummaryQuery = Type.Object(organization)

const answer = { success: Type.Literal(true), timestamp: Timestamp }
const direction = OneOf(DIRECTIONS)

export const Job = Type.Object(
  {
    job_id: Type.String(),
    status: OneOf(STATUSES),
    direction,
    source_host: Type.String(),
    source_username: Type.String(),
    target_email: Type.String(),
    total_messages: Type.Integer(),
    migrated_messages: Type.Integer(),
    failed_messages: Type.Integer(),
    current_folder: Nullable(Type.String()),
    speed: Type.Number({ description: 'Messages per second' }),
    is_delta: Type.Boolean(),
    is_retry: Type.Boolean(),
    parent_job_id: Nullable(Type.String()),
    error: Nullable(Type.String({ description: 'Reason that the job failed' })),
    started_at: Nullable(Timestamp),
    completed_at: Nullable(Timestamp),
    created_at: Timestamp,
  },
  { title: 'MigrationJob' },
)

export const JobStarted = Type.Object({
  ...answer,
  job_id: Type.String(),
  direction,
  status: OneOf(STATUSES),
  message: Type.String(),
})

export const ChildStarted = Type.Object({
  ...JobStarted.properties,
  parent_job_id: Type.String(),
  is_delta: Type.Boolean(),
  is_retry: Type.Boolean(),
})

export const JobsStarted = Type.Object({
  ...answer,
  direction,
  total_jobs: Type.Integer(),
  jobs: Type.Array(Type.Object({ job_id: Type.String(), target_email: Type.String() })),
  message: Type.String(),
})

const list = {
  ...answer,
  total: Type.Integer(),
  page: Type.Integer(),
  per_page: Type.Integer(),
}

export const JobList = Type.Object({ ...list, jobs: Type.Array(Job) })
export const OneJob = Type.Object({ ...answer, job: Job })

const errorFields = {
  folder: Type.String({ description: 'Empty for the whole job' }),
  message_uid: Type.String({ description: 'Empty for the whole folder or job' }),
  message_id: Type.String(),
  error_type: Type.String(),
  error_message: Type.String(),
  retryable: Type.Boolean(),
  retried: Type.Boolean(),
  created_at: Timestamp,
}

export const ErrorList = Type.Object({
  ...list,
  job_id: Type.String(),
  errors: Type.Array(Type.Object(errorFields, { title: 'MigrationError' })),
})

export const JobCancelled = Type.Object({
  ...answer,
  job_id: Type.String(),
  status: OneOf(STATUSES),
  message: Type.String(),
})

export const Summary = Type.Object({
  ...answer,
  org_id: Nullable(Type.String()),
  summary: Type.Object({
    total_jobs: Type.Integer(),
    completed_jobs: Type.Integer(),
    running_jobs: Type.Integer(),
    failed_jobs: Type.Integer(),
    pending_jobs: Type.Integer(),
    cancelled_jobs: Type.Integer(),
    total_messages: Type.Integer(),
    total_migrated: Type.Integer(),
    total_failed: Type.Integer(),
    avg_speed: Type.Number(),
    import_jobs: Type.Integer(),
    export_jobs: Type.Integer(),
    first_job_at: Nullable(Timestamp),
    last_activity_at: Nullable(Timestamp),
  }),
  recent_errors: Type.Array(Type.Object({ job_id: Type.String(), ...errorFields })),
})

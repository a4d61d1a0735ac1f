import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../../access/labels.ts'
import { WORK_ERRORS } from '../../../errors.ts'
import { Success, success } from '../../../http/envelope.ts'
import { Paginated, pageOf } from '../../../http/paging.ts'
import { OrganizationNotFound } from '../../organizations/organizations.errors.ts'
import * as errors from '../encryption.errors.ts'
import { organizationOf, readOf } from '../whose.ts'
import type { KeyService } from './keys.service.ts'
import type { MessageService } from './messages.service.ts'
import * as shapes from './pgp.schemas.ts'

/** A text of 1 MB may double in JSON. */
export const MAX_BODY_BYTES = 3 * 1024 * 1024

const naming = [errors.OrganizationRequired, OrganizationNotFound]
const storing = [
  ...naming,
  errors.Refused,
  errors.WrongPassphrase,
  errors.MailboxNotFound,
  errors.KeysFull,
  errors.KeyInUse,
  ...WORK_ERRORS,
]
const finding = [...naming, errors.KeyNotFound]
const working = [...naming, errors.Refused, errors.WrongPassphrase, errors.NoKeyFor, ...WORK_ERRORS]

/** OpenPGP for tenants. */
export const pgpRoutes =
  (keys: KeyService, messages: MessageService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/pgp/keys', {
      config: { auth: key('read'), errors: naming },
      schema: {
        operationId: 'list_pgp_keys',
        summary: 'OpenPGP keys of mailboxes and correspondents, newest first',
        querystring: shapes.KeyQuery,
        response: { 200: Success(Paginated(shapes.PgpKeySummary)) },
      },
      handler: async ({ caller, query }) => {
        const whose = readOf(caller, query.organization_id)
        return success('Keys retrieved', await keys.list(whose, query.email, pageOf(query)))
      },
    })

    app.get('/pgp/keys/:fingerprint', {
      config: { auth: key('read'), errors: finding },
      schema: {
        operationId: 'get_pgp_key',
        summary: 'Get a key with its public part',
        params: shapes.KeyParams,
        querystring: shapes.OneKeyQuery,
        response: { 200: Success(shapes.PgpKey) },
      },
      handler: async ({ caller, params, query }) => {
        const whose = readOf(caller, query.organization_id)
        return success('Key retrieved', await keys.get(whose, params.fingerprint, query.email))
      },
    })

    app.delete('/pgp/keys/:fingerprint', {
      config: { auth: key('write'), errors: [...finding, errors.KeyInUse] },
      schema: {
        operationId: 'delete_pgp_key',
        summary: 'Delete a key, also its private part',
        params: shapes.KeyParams,
        querystring: shapes.OneKeyQuery,
        response: { 200: Success(shapes.Deleted) },
      },
      handler: async ({ caller, params, query }) => {
        const whose = organizationOf(caller, query.organization_id)
        const deleted = await keys.remove(caller, whose, params.fingerprint, query.email)
        return success('Key deleted', deleted)
      },
    })

    app.post('/pgp/keys/:fingerprint/prefer', {
      config: { auth: key('write'), errors: [...finding, errors.KeyUnusable] },
      schema: {
        operationId: 'prefer_pgp_key',
        summary: 'Encrypt to this key from now on, and publish it',
        params: shapes.KeyParams,
        querystring: shapes.OneKeyQuery,
        response: { 200: Success(shapes.PgpKey) },
      },
      handler: async ({ caller, params, query }) => {
        const whose = organizationOf(caller, query.organization_id)
        const preferred = await keys.prefer(caller, whose, params.fingerprint, query.email)
        return success('Key preferred', preferred)
      },
    })

    app.post('/pgp/generate', {
      config: { auth: key('write'), errors: [...storing, errors.TooManyKeyJobs] },
      schema: {
        operationId: 'generate_pgp_key',
        summary: 'Make a key for a mailbox',
        body: shapes.GenerateBody,
        response: { 201: Success(shapes.PgpKey), 202: Success(shapes.KeyJob) },
      },
      handler: async ({ caller, body }, reply) => {
        const whose = organizationOf(caller, body.organization_id)
        const made = await keys.generate(caller, whose, body.email, body)
        return made.key
          ? reply.code(201).send(success('Key generated', made.key))
          : reply.code(202).send(success('Key is being generated', made.job))
      },
    })

    app.get('/pgp/jobs/:job_id', {
      config: { auth: key('read'), errors: [...naming, errors.KeyJobNotFound] },
      schema: {
        operationId: 'get_pgp_key_job',
        summary: 'Progress of the generation of a large key; kept for a day',
        params: shapes.JobParams,
        querystring: shapes.JobQuery,
        response: { 200: Success(shapes.KeyJob) },
      },
      handler: async ({ caller, params, query }) => {
        const whose = readOf(caller, query.organization_id)
        return success('Key job retrieved', await keys.job(whose, params.job_id))
      },
    })

    app.post('/pgp/import', {
      bodyLimit: MAX_BODY_BYTES,
      config: { auth: key('write'), errors: storing },
      schema: {
        operationId: 'import_pgp_key',
        summary: 'Store a key of a mailbox, or a public key of a correspondent',
        body: shapes.ImportBody,
        response: { 201: Success(shapes.PgpKey) },
      },
      handler: async ({ caller, body }, reply) => {
        const whose = organizationOf(caller, body.organization_id)
        const stored = await keys.import(caller, whose, body.email, body)
        return reply.code(201).send(success('Key imported', stored))
      },
    })

    app.post('/pgp/encrypt', {
      bodyLimit: MAX_BODY_BYTES,
      config: { auth: key('read'), errors: working },
      schema: {
        operationId: 'encrypt_with_pgp',
        summary: 'Encrypt a text to the preferred keys of its recipients',
        body: shapes.EncryptBody,
        response: { 200: Success(shapes.Encrypted) },
      },
      handler: async ({ caller, body }) => {
        const whose = organizationOf(caller, body.organization_id)
        return success('Message encrypted', await messages.encrypt(whose, body))
      },
    })

    app.post('/pgp/decrypt', {
      bodyLimit: MAX_BODY_BYTES,
      config: { auth: key('read'), errors: working },
      schema: {
        operationId: 'decrypt_with_pgp',
        summary: 'Decrypt a text with a private key and its passphrase',
        body: shapes.DecryptBody,
        response: { 200: Success(shapes.Decrypted) },
      },
      handler: async ({ caller, body }) => {
        const whose = organizationOf(caller, body.organization_id)
        return success('Message decrypted', await messages.decrypt(whose, body.email, body))
      },
    })

    app.post('/pgp/sign', {
      bodyLimit: MAX_BODY_BYTES,
      config: { auth: key('read'), errors: working },
      schema: {
        operationId: 'sign_with_pgp',
        summary: 'Sign a text with a private key and its passphrase',
        body: shapes.SignBody,
        response: { 200: Success(shapes.Signed) },
      },
      handler: async ({ caller, body }) => {
        const whose = organizationOf(caller, body.organization_id)
        return success('Message signed', await messages.sign(whose, body.email, body))
      },
    })

    app.post('/pgp/verify', {
      bodyLimit: MAX_BODY_BYTES,
      config: { auth: key('read'), errors: working },
      schema: {
        operationId: 'verify_with_pgp',
        summary: 'Verify a signature with the stored keys of its sender',
        body: shapes.VerifyBody,
        response: { 200: Success(shapes.Verified) },
      },
      handler: async ({ caller, body }) => {
        const whose = organizationOf(caller, body.organization_id)
        return success('Signature verified', await messages.verify(whose, body))
      },
    })
  }

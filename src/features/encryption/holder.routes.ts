import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { mailboxSession } from '../../access/labels.ts'
import { WORK_ERRORS } from '../../errors.ts'
import { Success, success } from '../../http/envelope.ts'
import { Paginated, pageOf } from '../../http/paging.ts'
import type { DeliveryService } from './delivery/delivery.service.ts'
import * as errors from './encryption.errors.ts'
import type { KeyService } from './pgp/keys.service.ts'
import type { MessageService } from './pgp/messages.service.ts'
import { MAX_BODY_BYTES } from './pgp/pgp.routes.ts'
import * as shapes from './pgp/pgp.schemas.ts'
import { mailboxOf } from './whose.ts'

const storing = [
  errors.Refused,
  errors.WrongPassphrase,
  errors.KeysFull,
  errors.KeyInUse,
  ...WORK_ERRORS,
]
const working = [errors.Refused, errors.WrongPassphrase, errors.NoKeyFor, ...WORK_ERRORS]
const finding = [errors.KeyNotFound]

/** The holder's own OpenPGP keys. Texts are encrypted to keys that the organization has stored. */
export const holderRoutes =
  (
    keys: KeyService,
    messages: MessageService,
    delivery: DeliveryService,
  ): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/delivery', {
      config: { auth: mailboxSession() },
      schema: {
        operationId: 'mailbox_encrypted_delivery',
        summary: 'Encryption of incoming mail to the own key or certificate',
        response: { 200: Success(shapes.Delivery) },
      },
      handler: async ({ caller }) =>
        success('Encrypted delivery retrieved', await delivery.get(caller)),
    })

    app.put('/delivery', {
      config: { auth: mailboxSession(), errors: [errors.NoUsableKey] },
      schema: {
        operationId: 'mailbox_set_encrypted_delivery',
        summary: 'Encrypt mail that arrives to the own preferred key or certificate, or stop to',
        description: 'Mail that cannot be encrypted is deferred; it never arrives as plain text.',
        body: shapes.DeliveryBody,
        response: { 200: Success(shapes.Delivery) },
      },
      handler: async ({ caller, body }) =>
        success('Encrypted delivery saved', await delivery.set(caller, body)),
    })

    app.get('/pgp/keys', {
      config: { auth: mailboxSession() },
      schema: {
        operationId: 'mailbox_pgp_keys',
        summary: 'The own OpenPGP keys, newest first',
        querystring: shapes.OwnKeyQuery,
        response: { 200: Success(Paginated(shapes.PgpKeySummary)) },
      },
      handler: async ({ caller, query }) =>
        success('Keys retrieved', await keys.list(mailboxOf(caller), undefined, pageOf(query))),
    })

    app.get('/pgp/keys/:fingerprint', {
      config: { auth: mailboxSession(), errors: finding },
      schema: {
        operationId: 'mailbox_pgp_key',
        summary: 'An own key with its public part',
        params: shapes.KeyParams,
        response: { 200: Success(shapes.PgpKey) },
      },
      handler: async ({ caller, params }) =>
        success('Key retrieved', await keys.get(mailboxOf(caller), params.fingerprint)),
    })

    app.get('/pgp/keys/:fingerprint/private', {
      config: { auth: mailboxSession(), errors: finding },
      schema: {
        operationId: 'mailbox_pgp_private_key',
        summary: 'An own private key, locked with its passphrase, for other programs',
        params: shapes.KeyParams,
        response: { 200: Success(shapes.PrivateKey) },
      },
      handler: async ({ caller, params }) =>
        success('Key retrieved', await keys.privateKey(mailboxOf(caller), params.fingerprint)),
    })

    app.delete('/pgp/keys/:fingerprint', {
      config: { auth: mailboxSession(), errors: [...finding, errors.KeyInUse] },
      schema: {
        operationId: 'mailbox_delete_pgp_key',
        summary: 'Delete an own key, also its private part',
        params: shapes.KeyParams,
        response: { 200: Success(shapes.Deleted) },
      },
      handler: async ({ caller, params }) =>
        success('Key deleted', await keys.remove(caller, mailboxOf(caller), params.fingerprint)),
    })

    app.post('/pgp/keys/:fingerprint/prefer', {
      config: { auth: mailboxSession(), errors: [...finding, errors.KeyUnusable] },
      schema: {
        operationId: 'mailbox_prefer_pgp_key',
        summary: 'Encrypt to this own key from now on, and publish it',
        params: shapes.KeyParams,
        response: { 200: Success(shapes.PgpKey) },
      },
      handler: async ({ caller, params }) =>
        success('Key preferred', await keys.prefer(caller, mailboxOf(caller), params.fingerprint)),
    })

    app.post('/pgp/generate', {
      config: { auth: mailboxSession(), errors: [...storing, errors.TooManyKeyJobs] },
      schema: {
        operationId: 'mailbox_generate_pgp_key',
        summary: 'Make an own key',
        body: shapes.OwnGenerateBody,
        response: { 201: Success(shapes.PgpKey), 202: Success(shapes.KeyJob) },
      },
      handler: async ({ caller, body }, reply) => {
        const made = await keys.generate(caller, mailboxOf(caller), '', body)
        return made.key
          ? reply.code(201).send(success('Key generated', made.key))
          : reply.code(202).send(success('Key is being generated', made.job))
      },
    })

    app.get('/pgp/jobs/:job_id', {
      config: { auth: mailboxSession(), errors: [errors.KeyJobNotFound] },
      schema: {
        operationId: 'mailbox_pgp_key_job',
        summary: 'Progress of the generation of an own large key; kept for a day',
        params: shapes.JobParams,
        response: { 200: Success(shapes.KeyJob) },
      },
      handler: async ({ caller, params }) =>
        success('Key job retrieved', await keys.job(mailboxOf(caller), params.job_id)),
    })

    app.post('/pgp/import', {
      bodyLimit: MAX_BODY_BYTES,
      config: { auth: mailboxSession(), errors: storing },
      schema: {
        operationId: 'mailbox_import_pgp_key',
        summary: 'Store an own key that another program made',
        body: shapes.OwnImportBody,
        response: { 201: Success(shapes.PgpKey) },
      },
      handler: async ({ caller, body }, reply) => {
        const stored = await keys.import(caller, mailboxOf(caller), '', body)
        return reply.code(201).send(success('Key imported', stored))
      },
    })

    app.post('/pgp/encrypt', {
      bodyLimit: MAX_BODY_BYTES,
      config: { auth: mailboxSession(), errors: working },
      schema: {
        operationId: 'mailbox_encrypt_with_pgp',
        summary: 'Encrypt a text to keys that the organization has stored',
        body: shapes.OwnEncryptBody,
        response: { 200: Success(shapes.Encrypted) },
      },
      handler: async ({ caller, body }) =>
        success('Message encrypted', await messages.encrypt(mailboxOf(caller), body)),
    })

    app.post('/pgp/decrypt', {
      bodyLimit: MAX_BODY_BYTES,
      config: { auth: mailboxSession(), errors: working },
      schema: {
        operationId: 'mailbox_decrypt_with_pgp',
        summary: 'Decrypt a text with an own private key and its passphrase',
        body: shapes.OwnDecryptBody,
        response: { 200: Success(shapes.Decrypted) },
      },
      handler: async ({ caller, body }) => {
        const whose = mailboxOf(caller)
        const { email = '' } = whose.account ?? {}
        return success('Message decrypted', await messages.decrypt(whose, email, body))
      },
    })

    app.post('/pgp/sign', {
      bodyLimit: MAX_BODY_BYTES,
      config: { auth: mailboxSession(), errors: working },
      schema: {
        operationId: 'mailbox_sign_with_pgp',
        summary: 'Sign a text with an own private key and its passphrase',
        body: shapes.OwnSignBody,
        response: { 200: Success(shapes.Signed) },
      },
      handler: async ({ caller, body }) => {
        const whose = mailboxOf(caller)
        const { email = '' } = whose.account ?? {}
        return success('Message signed', await messages.sign(whose, email, body))
      },
    })

    app.post('/pgp/verify', {
      bodyLimit: MAX_BODY_BYTES,
      config: { auth: mailboxSession(), errors: working },
      schema: {
        operationId: 'mailbox_verify_with_pgp',
        summary: 'Verify a signature with the stored keys of its sender',
        body: shapes.OwnVerifyBody,
        response: { 200: Success(shapes.Verified) },
      },
      handler: async ({ caller, body }) =>
        success('Signature verified', await messages.verify(mailboxOf(caller), body)),
    })
  }

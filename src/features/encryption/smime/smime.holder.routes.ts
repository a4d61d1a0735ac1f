import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { mailboxSession } from '../../../access/labels.ts'
import { WORK_ERRORS } from '../../../errors.ts'
import { Success, success } from '../../../http/envelope.ts'
import { Paginated, pageOf } from '../../../http/paging.ts'
import * as errors from '../encryption.errors.ts'
import { MAX_BODY_BYTES } from '../pgp/pgp.routes.ts'
import * as pgp from '../pgp/pgp.schemas.ts'
import { mailboxOf } from '../whose.ts'
import type { CertificateService } from './certificates.service.ts'
import type { SmimeMessageService } from './messages.service.ts'
import * as shapes from './smime.schemas.ts'

const auth = mailboxSession()
const storing = [errors.Refused, errors.WrongPassphrase, errors.KeysFull, ...WORK_ERRORS]
const working = [errors.Refused, errors.WrongPassphrase, errors.NoKeyFor, ...WORK_ERRORS]
const finding = [errors.CertificateNotFound]

/** The holder's own S/MIME certificates. Texts are encrypted to those that the organization has stored. */
export const smimeHolderRoutes =
  (certificates: CertificateService, messages: SmimeMessageService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/smime/certs', {
      config: { auth },
      schema: {
        operationId: 'mailbox_smime_certificates',
        summary: 'The own S/MIME certificates, newest first',
        querystring: pgp.OwnKeyQuery,
        response: { 200: Success(Paginated(shapes.CertificateSummary)) },
      },
      handler: async ({ caller, query }) => {
        const found = await certificates.list(mailboxOf(caller), undefined, pageOf(query))
        return success('Certificates retrieved', found)
      },
    })

    app.get('/smime/certs/:fingerprint', {
      config: { auth, errors: finding },
      schema: {
        operationId: 'mailbox_smime_certificate',
        summary: 'An own certificate in PEM',
        params: shapes.CertificateParams,
        response: { 200: Success(shapes.SmimeCertificate) },
      },
      handler: async ({ caller, params }) => {
        const found = await certificates.get(mailboxOf(caller), params.fingerprint)
        return success('Certificate retrieved', found)
      },
    })

    app.get('/smime/certs/:fingerprint/private', {
      config: { auth, errors: finding },
      schema: {
        operationId: 'mailbox_smime_private_key',
        summary: 'An own private key, locked with its passphrase, for other programs',
        params: shapes.CertificateParams,
        response: { 200: Success(shapes.PrivateKey) },
      },
      handler: async ({ caller, params }) => {
        const found = await certificates.privateKey(mailboxOf(caller), params.fingerprint)
        return success('Private key retrieved', found)
      },
    })

    app.delete('/smime/certs/:fingerprint', {
      config: { auth, errors: [...finding, errors.KeyInUse] },
      schema: {
        operationId: 'mailbox_delete_smime_certificate',
        summary: 'Delete an own certificate, also its private key',
        params: shapes.CertificateParams,
        response: { 200: Success(pgp.Deleted) },
      },
      handler: async ({ caller, params }) => {
        const deleted = await certificates.remove(caller, mailboxOf(caller), params.fingerprint)
        return success('Certificate deleted', deleted)
      },
    })

    app.post('/smime/certs/:fingerprint/prefer', {
      config: { auth, errors: [...finding, errors.KeyUnusable] },
      schema: {
        operationId: 'mailbox_prefer_smime_certificate',
        summary: 'Encrypt to this own certificate from now on',
        params: shapes.CertificateParams,
        response: { 200: Success(shapes.SmimeCertificate) },
      },
      handler: async ({ caller, params }) => {
        const preferred = await certificates.prefer(caller, mailboxOf(caller), params.fingerprint)
        return success('Certificate preferred', preferred)
      },
    })

    app.post('/smime/import', {
      bodyLimit: MAX_BODY_BYTES,
      config: { auth, errors: storing },
      schema: {
        operationId: 'mailbox_import_smime_certificate',
        summary: 'Store an own certificate, with or without its private key',
        body: shapes.OwnImportBody,
        response: { 201: Success(shapes.SmimeCertificate) },
      },
      handler: async ({ caller, body }, reply) => {
        const stored = await certificates.import(caller, mailboxOf(caller), '', body)
        return reply.code(201).send(success('Certificate imported', stored))
      },
    })

    app.post('/smime/encrypt', {
      bodyLimit: MAX_BODY_BYTES,
      config: { auth, errors: working },
      schema: {
        operationId: 'mailbox_encrypt_with_smime',
        summary: 'Encrypt a text to certificates that the organization has stored',
        body: shapes.OwnEncryptBody,
        response: { 200: Success(pgp.Encrypted) },
      },
      handler: async ({ caller, body }) =>
        success('Message encrypted', await messages.encrypt(mailboxOf(caller), body)),
    })

    app.post('/smime/decrypt', {
      bodyLimit: MAX_BODY_BYTES,
      config: { auth, errors: working },
      schema: {
        operationId: 'mailbox_decrypt_with_smime',
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

    app.post('/smime/sign', {
      bodyLimit: MAX_BODY_BYTES,
      config: { auth, errors: working },
      schema: {
        operationId: 'mailbox_sign_with_smime',
        summary: 'Sign a text with an own private key and its passphrase',
        body: pgp.OwnSignBody,
        response: { 200: Success(pgp.Signed) },
      },
      handler: async ({ caller, body }) => {
        const whose = mailboxOf(caller)
        const { email = '' } = whose.account ?? {}
        return success('Message signed', await messages.sign(whose, email, body))
      },
    })

    app.post('/smime/verify', {
      bodyLimit: MAX_BODY_BYTES,
      config: { auth, errors: [errors.Refused, ...WORK_ERRORS] },
      schema: {
        operationId: 'mailbox_verify_with_smime',
        summary: 'Verify a signature by trusted roots and stored certificates',
        body: shapes.OwnVerifyBody,
        response: { 200: Success(shapes.Verified) },
      },
      handler: async ({ caller, body }) =>
        success('Signature verified', await messages.verify(mailboxOf(caller), body)),
    })
  }

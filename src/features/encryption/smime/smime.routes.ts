import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../../access/labels.ts'
import { WORK_ERRORS } from '../../../errors.ts'
import { Success, success } from '../../../http/envelope.ts'
import { Paginated, pageOf } from '../../../http/paging.ts'
import { OrganizationNotFound } from '../../organizations/organizations.errors.ts'
import * as errors from '../encryption.errors.ts'
import { MAX_BODY_BYTES } from '../pgp/pgp.routes.ts'
import * as pgp from '../pgp/pgp.schemas.ts'
import { organizationOf, readOf } from '../whose.ts'
import type { CertificateService } from './certificates.service.ts'
import type { SmimeMessageService } from './messages.service.ts'
import * as shapes from './smime.schemas.ts'

const naming = [errors.OrganizationRequired, OrganizationNotFound]
const storing = [
  ...naming,
  errors.Refused,
  errors.WrongPassphrase,
  errors.MailboxNotFound,
  errors.KeysFull,
  ...WORK_ERRORS,
]
const finding = [...naming, errors.CertificateNotFound]
const working = [...naming, errors.Refused, errors.WrongPassphrase, errors.NoKeyFor, ...WORK_ERRORS]

/** S/MIME for tenants. */
export const smimeRoutes =
  (certificates: CertificateService, messages: SmimeMessageService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/smime/certs', {
      config: { auth: key('read'), errors: naming },
      schema: {
        operationId: 'list_smime_certificates',
        summary: 'S/MIME certificates of mailboxes and correspondents, newest first',
        querystring: pgp.KeyQuery,
        response: { 200: Success(Paginated(shapes.CertificateSummary)) },
      },
      handler: async ({ caller, query }) => {
        const whose = readOf(caller, query.organization_id)
        const found = await certificates.list(whose, query.email, pageOf(query))
        return success('Certificates retrieved', found)
      },
    })

    app.get('/smime/certs/:fingerprint', {
      config: { auth: key('read'), errors: finding },
      schema: {
        operationId: 'get_smime_certificate',
        summary: 'Get a certificate in PEM',
        params: shapes.CertificateParams,
        querystring: pgp.OneKeyQuery,
        response: { 200: Success(shapes.SmimeCertificate) },
      },
      handler: async ({ caller, params, query }) => {
        const whose = readOf(caller, query.organization_id)
        const found = await certificates.get(whose, params.fingerprint, query.email)
        return success('Certificate retrieved', found)
      },
    })

    app.delete('/smime/certs/:fingerprint', {
      config: { auth: key('write'), errors: [...finding, errors.KeyInUse] },
      schema: {
        operationId: 'delete_smime_certificate',
        summary: 'Delete a certificate, also its private key',
        params: shapes.CertificateParams,
        querystring: pgp.OneKeyQuery,
        response: { 200: Success(pgp.Deleted) },
      },
      handler: async ({ caller, params, query }) => {
        const whose = organizationOf(caller, query.organization_id)
        const deleted = await certificates.remove(caller, whose, params.fingerprint, query.email)
        return success('Certificate deleted', deleted)
      },
    })

    app.post('/smime/certs/:fingerprint/prefer', {
      config: { auth: key('write'), errors: [...finding, errors.KeyUnusable] },
      schema: {
        operationId: 'prefer_smime_certificate',
        summary: 'Encrypt to this certificate from now on',
        params: shapes.CertificateParams,
        querystring: pgp.OneKeyQuery,
        response: { 200: Success(shapes.SmimeCertificate) },
      },
      handler: async ({ caller, params, query }) => {
        const whose = organizationOf(caller, query.organization_id)
        const preferred = await certificates.prefer(caller, whose, params.fingerprint, query.email)
        return success('Certificate preferred', preferred)
      },
    })

    app.post('/smime/import', {
      bodyLimit: MAX_BODY_BYTES,
      config: { auth: key('write'), errors: storing },
      schema: {
        operationId: 'import_smime_certificate',
        summary: 'Store a certificate of a mailbox or of a correspondent',
        body: shapes.ImportBody,
        response: { 201: Success(shapes.SmimeCertificate) },
      },
      handler: async ({ caller, body }, reply) => {
        const whose = organizationOf(caller, body.organization_id)
        const stored = await certificates.import(caller, whose, body.email, body)
        return reply.code(201).send(success('Certificate imported', stored))
      },
    })

    app.post('/smime/encrypt', {
      bodyLimit: MAX_BODY_BYTES,
      config: { auth: key('read'), errors: working },
      schema: {
        operationId: 'encrypt_with_smime',
        summary: 'Encrypt a text to the preferred certificates of its recipients',
        body: shapes.EncryptBody,
        response: { 200: Success(pgp.Encrypted) },
      },
      handler: async ({ caller, body }) => {
        const whose = organizationOf(caller, body.organization_id)
        return success('Message encrypted', await messages.encrypt(whose, body))
      },
    })

    app.post('/smime/decrypt', {
      bodyLimit: MAX_BODY_BYTES,
      config: { auth: key('read'), errors: working },
      schema: {
        operationId: 'decrypt_with_smime',
        summary: 'Decrypt a text with a private key and its passphrase',
        body: shapes.DecryptBody,
        response: { 200: Success(shapes.Decrypted) },
      },
      handler: async ({ caller, body }) => {
        const whose = organizationOf(caller, body.organization_id)
        return success('Message decrypted', await messages.decrypt(whose, body.email, body))
      },
    })

    app.post('/smime/sign', {
      bodyLimit: MAX_BODY_BYTES,
      config: { auth: key('read'), errors: working },
      schema: {
        operationId: 'sign_with_smime',
        summary: 'Sign a text with a private key and its passphrase',
        body: pgp.SignBody,
        response: { 200: Success(pgp.Signed) },
      },
      handler: async ({ caller, body }) => {
        const whose = organizationOf(caller, body.organization_id)
        return success('Message signed', await messages.sign(whose, body.email, body))
      },
    })

    app.post('/smime/verify', {
      bodyLimit: MAX_BODY_BYTES,
      config: { auth: key('read'), errors: [...naming, errors.Refused, ...WORK_ERRORS] },
      schema: {
        operationId: 'verify_with_smime',
        summary: 'Verify a signature by trusted roots and stored certificates',
        body: shapes.VerifyBody,
        response: { 200: Success(shapes.Verified) },
      },
      handler: async ({ caller, body }) => {
        const whose = organizationOf(caller, body.organization_id)
        return success('Signature verified', await messages.verify(whose, body))
      },
    })
  }

import type { Caller } from '../../access/caller.ts'
import {
  type Copy,
  mailboxIn,
  type SendingService,
  type SentCommon,
} from '../messages/sending/sending.service.ts'
import type { Renderer } from './renderer.ts'
import type { TemplateService } from './templates.service.ts'

interface SentTemplate extends SentCommon {
  recipients: { to: string; variables?: object }[]
  variables?: object
  strict?: boolean
}

interface Needs {
  templates: Pick<TemplateService, 'get'>
  renderer: Renderer
  sending: SendingService
}

export type TemplateSendingService = ReturnType<typeof templateSendingService>

export const templateSendingService = ({ templates, renderer, sending }: Needs) => ({
  /** Renders a message for each recipient. When one cannot be rendered, none is sent. */
  async send(caller: Caller, id: string, sent: SentTemplate) {
    const template = await templates.get(caller, id)
    const scope = { organization: template.organization_id }
    const sender = await sending.senderOf({ scope }, sent.from)
    const mailboxes = sent.recipients.map(({ to }) => mailboxIn('recipients', to))
    const sets = sent.recipients.map((one) => ({ ...sent.variables, ...one.variables }))
    const options = { format: 'both', strict: sent.strict ?? false } as const
    const [only] = sets
    const rendered =
      sets.length === 1
        ? [await renderer.one(template, only as object, options)]
        : await renderer.many(template, sets, options)
    const copies = rendered.map(
      ({ subject, html, plaintext }, at): Copy => ({
        to: mailboxes[at] as Copy['to'],
        subject,
        html,
        text: plaintext,
      }),
    )
    return sending.sendCopies(caller, sender, sent, copies, id)
  },
})

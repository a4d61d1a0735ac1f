import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { mailboxSession } from '../../../access/labels.ts'
import { Unprocessable, WORK_ERRORS } from '../../../errors.ts'
import { Success, success } from '../../../http/envelope.ts'
import { READ_ERRORS, SAVE_ERRORS } from '../script-store/script-store.ts'
import { Outcome, RuleList, RulesBody, TestBody } from './rules.schemas.ts'
import type { RuleService } from './rules.service.ts'

export const ruleRoutes =
  (rules: RuleService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/rules', {
      config: { auth: mailboxSession(), errors: READ_ERRORS },
      schema: {
        operationId: 'mailbox_rules',
        summary: 'Rules of this mailbox, in the order they run',
        response: { 200: Success(RuleList) },
      },
      handler: async ({ caller }) =>
        success('Rules retrieved successfully', await rules.get(caller)),
    })

    app.put('/rules', {
      config: { auth: mailboxSession(), errors: [...SAVE_ERRORS, Unprocessable] },
      schema: {
        operationId: 'save_mailbox_rules',
        summary: 'Replace all rules of this mailbox',
        body: RulesBody,
        response: { 200: Success(RuleList) },
      },
      handler: async ({ caller, body }) =>
        success('Rules saved', await rules.save(caller, body.rules)),
    })

    app.post('/rules/test', {
      config: { auth: mailboxSession(), errors: [...READ_ERRORS, Unprocessable, ...WORK_ERRORS] },
      schema: {
        operationId: 'test_mailbox_rules',
        summary: 'Evaluate the rules for a message without sending it',
        body: TestBody,
        response: { 200: Success(Outcome) },
      },
      handler: async ({ caller, body: { rules: sent, ...message } }) =>
        success('Rules tested', await rules.test(caller, message, sent)),
    })
  }

import { expect, it } from 'vitest'
import { treatmentOf } from './spam-policy.ts'

const policy = (changed: object = {}) => ({
  policy_bl_only: 0,
  policy_reject_spam: 0,
  policy_greylist: 1,
  policy_rbl: 1,
  ...changed,
})
const UNSET = {
  policy_bl_only: null,
  policy_reject_spam: null,
  policy_greylist: null,
  policy_rbl: null,
}

it('leaves everything to Rspamd without a policy, and with the default one', () => {
  for (const policies of [[], [UNSET], [policy()]]) {
    expect(treatmentOf(policies)).toEqual({ settings: undefined, rejectsSpam: false })
  }
})

it('turns single checks off', () => {
  expect(treatmentOf([policy({ policy_greylist: 0 })]).settings).toEqual({
    symbols_disabled: ['GREYLIST_CHECK', 'GREYLIST_SAVE'],
  })
  expect(treatmentOf([policy({ policy_rbl: 0 })]).settings).toEqual({
    groups_disabled: ['rbl', 'surbl'],
  })
})

it('uses block lists and the virus scanner only, when the domain wants that', () => {
  const { settings } = treatmentOf([policy({ policy_bl_only: 1, policy_greylist: 0 })])
  expect(settings).toEqual({
    groups_enabled: ['rbl', 'surbl'],
    symbols_enabled: expect.arrayContaining(['CLAM_VIRUS', 'CLAM_VIRUS_FAIL']),
  })
  expect(treatmentOf([policy({ policy_bl_only: 1, policy_rbl: 0 })]).settings).not.toHaveProperty(
    'groups_enabled',
  )
})

it('applies to a message only what all domains of its recipients want', () => {
  const strict = policy({ policy_reject_spam: 1, policy_rbl: 0 })
  expect(treatmentOf([strict, strict])).toMatchObject({ rejectsSpam: true })
  expect(treatmentOf([strict, policy()])).toEqual({ settings: undefined, rejectsSpam: false })
})

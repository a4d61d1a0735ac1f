import { defineError } from '../../../errors.ts'

export const AlertRuleNotFound = defineError({ status: 404, message: 'Alert rule not found' })
export const AlertChannelNotFound = defineError({ status: 404, message: 'Alert channel not found' })

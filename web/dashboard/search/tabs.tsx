import { Tabs } from '../../ui/tabs.tsx'
import { t as titles } from '../titles.words.ts'
import { t } from './words.ts'

export const SearchTabs = () => (
  <Tabs
    label={titles.search}
    tabs={[
      ['/app/search', titles.search],
      ['/app/search/index', t.index],
    ]}
  />
)

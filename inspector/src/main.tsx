import 'uplot/dist/uPlot.min.css'
import './style/page.css'
import './style/transcript.css'
import './style/text.css'
import './style/panel.css'
import './style/timeline.css'
import './style/sheet.css'
import './style/requests.css'
import { render } from 'preact'
import { goToPlace, start } from './state'
import { applyTheme } from './view/theme'
import { App } from './view/app'

applyTheme()
const place = document.getElementById('app')
if (place) render(<App />, place)
addEventListener('hashchange', goToPlace)
void start()

-- Publishes what OBS shows as a FrameBus stream. Add this file in OBS under Tools, Scripts: the
-- output of the plugin obs-framebus has no other window.
local obs = obslua
local output
local names = { "stream", "sound", "group", "root" }
local chosen

function script_description()
  return "Publishes what OBS shows, and what it plays, as FrameBus streams, while this is on."
end

function script_defaults(settings)
  obs.obs_data_set_default_string(settings, "stream", "obs")
end

function script_properties()
  local properties = obs.obs_properties_create()
  obs.obs_properties_add_bool(properties, "on", "Publish")
  obs.obs_properties_add_text(properties, "stream", "Stream", obs.OBS_TEXT_DEFAULT)
  obs.obs_properties_add_text(properties, "sound", "Stream for sound", obs.OBS_TEXT_DEFAULT)
  obs.obs_properties_add_text(properties, "group", "Group", obs.OBS_TEXT_DEFAULT)
  obs.obs_properties_add_text(properties, "root", "Directory of groups", obs.OBS_TEXT_DEFAULT)
  return properties
end

local function stop()
  if output == nil then return end
  obs.obs_output_stop(output)
  obs.obs_output_release(output)
  output = nil
end

local function start(settings)
  local own = obs.obs_data_create()
  for _, name in ipairs(names) do
    obs.obs_data_set_string(own, name, obs.obs_data_get_string(settings, name))
  end
  output = obs.obs_output_create("framebus_output", "FrameBus", own, nil)
  obs.obs_data_release(own)
  if output ~= nil and obs.obs_output_start(output) then return end
  local problem = output ~= nil and obs.obs_output_get_last_error(output) or nil
  obs.script_log(obs.LOG_WARNING, problem or "OBS has no such output; install obs-framebus")
  if output ~= nil then obs.obs_output_release(output) end
  output = nil
end

local function describe(settings)
  local text = tostring(obs.obs_data_get_bool(settings, "on"))
  for _, name in ipairs(names) do
    text = text .. "\n" .. obs.obs_data_get_string(settings, name)
  end
  return text
end

function script_update(settings)
  local now = describe(settings)
  if now == chosen then return end
  chosen = now
  stop()
  if obs.obs_data_get_bool(settings, "on") then start(settings) end
end

function script_unload() stop() end

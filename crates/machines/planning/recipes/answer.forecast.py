if "forecast" in globals():
    coming = after(series[-1][0], series_unit, series_ahead) if is_combined else None
    when = f"In the {series_unit} from {coming.date()}, the {value_name}" if coming else f"After {series[-1][0].date()}, the next {value_name}"
    under_way = [] if series_ahead == 1 else [f"The {series_unit} from {after(series[-1][0], series_unit).date()} is under way: its rows end on {points[-1][0].date()}. It is not used, and the forecast is for the one after it."]
    answers = tell([
        f"{when} is expected at {short(forecast['next'])} (method: {forecast['method']}). In the past this method was off by {short(forecast['error'])} on average.",
        f"{value_name}: {trend['text']}; its mean is {short(trend['mean'])} over {len(series)} points.",
        *under_way,
    ])
else:
    answers = tell([], steps_not_done.get(__STEP__, "there is no forecast"))

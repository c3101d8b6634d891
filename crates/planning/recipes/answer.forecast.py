if "forecast" in globals():
    answers = tell([
        f"After {series[-1][0].date()}, the next {value_name} is expected at {short(forecast['next'])} (method: {forecast['method']}). In the past this method was off by {short(forecast['error'])} on average.",
        f"{value_name}: {trend['text']}; its mean is {short(trend['mean'])} over {len(series)} points.",
    ])
else:
    answers = tell([], steps_not_done.get(__STEP__, "there is no forecast"))

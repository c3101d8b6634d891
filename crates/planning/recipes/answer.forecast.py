answers = [
    f"After {series[-1][0].date()}, the next {value_name} is expected at {forecast['next']:.4g} (method: {forecast['method']}). In the past this method was off by {forecast['error']:.3g} on average.",
    f"{value_name} is {trend['direction']} by {abs(trend['slope']):.3g} from point to point; its mean is {trend['mean']:.4g} over {len(series)} points.",
]
print("\n".join(answers))
